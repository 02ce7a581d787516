namespace Tsavorite;

/// <summary>
/// A key as the store wants it: bytes that stay where they are for the length of the call, the namespace they
/// live in, and the hash of both. Made by <see cref="Store.Key"/> or, with a hash taken at parse time, by
/// <see cref="Store.KeyFromHash"/>.
/// </summary>
public readonly unsafe struct KeyRef
{
    /// <summary>First byte of the key; at least 16 readable bytes must lie behind the last one.</summary>
    public readonly byte* Bytes;
    /// <summary>Length in bytes, 0 to <see cref="Store.KeyBytesMax"/>.</summary>
    public readonly int Length;
    /// <summary>Namespace id, 24 bits.</summary>
    public readonly uint Namespace;
    /// <summary>Seeded hash of the bytes, mixed with the namespace.</summary>
    public readonly ulong Hash;

    internal KeyRef(byte* bytes, int length, uint ns, ulong hash)
    {
        Bytes = bytes;
        Length = length;
        Namespace = ns;
        Hash = hash;
    }

    /// <summary>The key's bytes.</summary>
    public ReadOnlySpan<byte> Span => new(Bytes, Length);
}
