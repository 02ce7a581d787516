namespace Garnet.Server.Base;

/// <summary>A key of a database about which something is kept in <see cref="KeyChains{T}"/>.</summary>
internal abstract class KeyLink<T> where T : KeyLink<T>
{
    private const int SlackBytes = 16; // what hashing may read behind a key
    private readonly int _length;

    private protected KeyLink(int database, ReadOnlySpan<byte> key, ulong hash)
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

    /// <summary>The next one of the same hash.</summary>
    internal T? Next { get; set; }

    internal bool Is(int database, ReadOnlySpan<byte> key) => Database == database && Key.SequenceEqual(key);
}
