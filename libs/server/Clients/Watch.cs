namespace Garnet.Server.Clients;

/// <summary>One key that a connection watches. All but the chain is fixed at birth.</summary>
internal sealed class Watch
{
    private const int SlackBytes = 16; // what hashing may read behind a key
    private const int OwnBytes = 128;

    private readonly int _length;

    internal Watch(WatchedKeys owner, int database, ReadOnlySpan<byte> key, ulong hash, bool existed)
    {
        Owner = owner;
        Database = database;
        Hash = hash;
        Existed = existed;
        _length = key.Length;
        Bytes = new byte[key.Length + SlackBytes];
        key.CopyTo(Bytes);
    }

    internal WatchedKeys Owner { get; }
    internal int Database { get; }

    /// <summary>Hash of the key's bytes.</summary>
    internal ulong Hash { get; }

    /// <summary>True if the key was there, and its time had not come, when WATCH was called.</summary>
    internal bool Existed { get; }

    /// <summary>The next watch of a key with the same hash.</summary>
    internal Watch? Next { get; set; }

    /// <summary>The key, with slack behind it.</summary>
    internal byte[] Bytes { get; }

    internal ReadOnlySpan<byte> Key => Bytes.AsSpan(0, _length);

    /// <summary>Bytes of memory, about.</summary>
    internal long MemoryBytes => OwnBytes + Bytes.Length;
}
