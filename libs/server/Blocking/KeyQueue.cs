namespace Garnet.Server.Blocking;

/// <summary>Those who wait for one key of one database, in the order in which they came. Changed under its shard's lock.</summary>
internal sealed class KeyQueue
{
    private const int SlackBytes = 16; // what hashing may read behind a key
    private readonly int _length;

    internal KeyQueue(int database, ReadOnlySpan<byte> key, ulong hash)
    {
        Database = database;
        Hash = hash;
        _length = key.Length;
        Bytes = new byte[key.Length + SlackBytes];
        key.CopyTo(Bytes);
    }

    internal int Database { get; }

    /// <summary>Hash of the key's bytes.</summary>
    internal ulong Hash { get; }

    /// <summary>The key, with slack behind it.</summary>
    internal byte[] Bytes { get; }

    internal ReadOnlySpan<byte> Key => Bytes.AsSpan(0, _length);

    /// <summary>The next queue of a key with the same hash.</summary>
    internal KeyQueue? Next { get; set; }

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
