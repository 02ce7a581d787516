namespace Tsavorite;

/// <summary>
/// A look at one record during a callback; never kept. In an <see cref="IRead"/> the bytes may change while they
/// are looked at: copy them out, act only after the call returned <see cref="Outcome.Done"/> (rule store.U2).
/// Pointers and lengths are always within mapped memory.
/// </summary>
public readonly unsafe ref struct RecordView
{
    /// <summary>What the value is; <see cref="RecordKind.None"/> when there is no live record.</summary>
    public readonly RecordKind Kind;
    /// <summary>First byte of the value. 32 readable bytes lie behind the last one (for wide copies).</summary>
    public readonly byte* Value;
    /// <summary>Length of the value in bytes.</summary>
    public readonly int ValueBytes;
    /// <summary>First byte of the key.</summary>
    public readonly byte* Key;
    /// <summary>Length of the key in bytes.</summary>
    public readonly int KeyBytes;
    /// <summary>Expiry in Unix milliseconds; 0 = never.</summary>
    public readonly long ExpireAtMs;
    /// <summary>Version set by the ETag commands; 0 = none.</summary>
    public readonly ulong ETag;
    /// <summary>Access frequency 0 to 3 as the eviction clock sees it (approximate).</summary>
    public readonly int Frequency;

    internal RecordView(RecordKind kind, byte* value, int valueBytes, byte* key, int keyBytes, long expireAtMs, ulong etag, int frequency)
    {
        Kind = kind;
        Value = value;
        ValueBytes = valueBytes;
        Key = key;
        KeyBytes = keyBytes;
        ExpireAtMs = expireAtMs;
        ETag = etag;
        Frequency = frequency;
    }

    /// <summary>True when there is a live record.</summary>
    public bool Exists => Kind != RecordKind.None;
    /// <summary>The value's bytes.</summary>
    public ReadOnlySpan<byte> ValueSpan => new(Value, ValueBytes);
    /// <summary>The key's bytes.</summary>
    public ReadOnlySpan<byte> KeySpan => new(Key, KeyBytes);
}
