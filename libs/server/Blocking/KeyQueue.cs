using Garnet.Server.Base;

namespace Garnet.Server.Blocking;

/// <summary>Those who wait for one key of one database, in the order in which they came. Changed under its shard's lock.</summary>
internal sealed class KeyQueue(int database, ReadOnlySpan<byte> key, ulong hash) : KeyLink<KeyQueue>(database, key, hash)
{
    private int _endingWithoutKey;

    /// <summary>True if somebody in it waits no longer than the key is there.</summary>
    internal bool EndsWithoutKey => _endingWithoutKey > 0;

    internal WaitPlace? First { get; private set; }

    internal WaitPlace? Last { get; private set; }

    internal void Add(WaitPlace place)
    {
        _endingWithoutKey += place.Owner.EndsWithoutKey ? 1 : 0;
        place.Before = Last;
        if (Last is null)
            First = place;
        else
            Last.Behind = place;
        Last = place;
    }

    internal void Remove(WaitPlace place)
    {
        _endingWithoutKey -= place.Owner.EndsWithoutKey ? 1 : 0;
        if (place.Before is null)
            First = place.Behind;
        else
            place.Before.Behind = place.Behind;
        if (place.Behind is null)
            Last = place.Before;
        else
            place.Behind.Before = place.Before;
    }
}
