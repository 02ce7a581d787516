namespace Tsavorite;

/// <summary>
/// What <see cref="IModify.Plan"/> wants the record to be. The store fills it with the existing record's fields
/// (kind, expiry, ETag, length), so that an operation that does not care keeps them; for a new record it holds
/// <see cref="RecordKind.String"/>, no expiry, no ETag.
/// </summary>
public struct NewRecord
{
    /// <summary>Kind of the new value.</summary>
    public RecordKind Kind;
    /// <summary>Bytes <see cref="IModify.Write"/> will fill, exactly.</summary>
    public int ValueBytes;
    /// <summary>Expiry in Unix milliseconds; 0 = never.</summary>
    public long ExpireAtMs;
    /// <summary>ETag; 0 = none.</summary>
    public ulong ETag;
    /// <summary>Number shared with the record's chunks; 0 = it has none. A new value has none, unless an edit wrote it.</summary>
    internal ulong Owner;
}
