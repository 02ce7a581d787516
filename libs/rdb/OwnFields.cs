namespace Garnet.Rdb;

/// <summary>
/// What RDB has no form for, as auxiliary fields between keys: other readers pass over those they do not know, Redis too.
/// </summary>
internal static class OwnFields
{
    /// <summary>In front of a key: its ETag in 8 bytes.</summary>
    internal static ReadOnlySpan<byte> ETag => "garnet-etag"u8;

    /// <summary>Behind a sorted set: Unix milliseconds in 8 bytes, and the member that expires then.</summary>
    internal static ReadOnlySpan<byte> MemberTime => "garnet-member-time"u8;
}
