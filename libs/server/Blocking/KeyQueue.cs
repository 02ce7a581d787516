using Garnet.Server.Base;

namespace Garnet.Server.Blocking;

/// <summary>Those who wait for one key of one database, in the order in which they came. Changed under its shard's lock.</summary>
internal sealed class KeyQueue(int database, ReadOnlySpan<byte> key, ulong hash) : KeyLink<KeyQueue>(database, key, hash)
{
    internal WaitPlace? First { get; private set; }

    internal WaitPlace? Last { get; private set; }

    internal void Add(WaitPlace place)
    {
        place.Before = Last;
        if (Last is null)
            First = place;
        else
            Last.Behind = place;
        Last = place;
    }

    internal void Remove(WaitPlace place)
    {
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
