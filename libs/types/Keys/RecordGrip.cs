using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Keys;

/// <summary>
/// Remembers where a record is. True only while its partition is locked by the session: used between
/// <see cref="StoreSession.Lock"/> and <see cref="StoreSession.Unlock"/>.
/// </summary>
public unsafe struct RecordGrip : IRead
{
    public PutRecord Content;

    /// <summary>True if the value is not all there is.</summary>
    public readonly bool HasChunks => Content.Kind != RecordKind.String && Root.IsChunked(Content.Value);

    public void Look(in RecordView record)
    {
        Content.Kind = record.Kind;
        Content.Value = record.Value;
        Content.Length = record.ValueBytes;
        Content.ExpireAtMs = record.ExpireAtMs;
        Content.ETag = record.ETag;
    }
}
