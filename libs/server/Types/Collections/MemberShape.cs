using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>A type whose entries are found by key: what its root is and what its entries carry.</summary>
internal readonly record struct MemberShape(RecordKind Kind, EntryForm Form)
{
    internal static readonly MemberShape Hash = new(RecordKind.Hash, EntryForm.Pair);
    internal static readonly MemberShape Set = new(RecordKind.Set, EntryForm.Member);
    internal static readonly MemberShape SortedSet = new(RecordKind.SortedSet, EntryForm.Scored);
}

/// <summary>Sizes up to which a collection is packed, and up to which it counts as small for OBJECT ENCODING.</summary>
internal readonly record struct CollectionLimits(long EntriesMax, long ValueBytesMax, long PackedBytesMax)
{
    /// <summary>Entries searched one by one cost more than a chunk from about here on.</summary>
    internal const int PackedEntriesMax = 128;

    /// <summary>What holds while a log is read back: names do not change by themselves.</summary>
    internal static readonly CollectionLimits Replay = new(long.MaxValue, long.MaxValue, EncodingSettings.PackedBytesDefault);

    /// <summary>True if the entry or so many of them pass the threshold of the small form's name.</summary>
    internal bool Exceeds(in Entry parts, long count) => count > EntriesMax || parts.KeyBytes > ValueBytesMax || parts.ValueBytes > ValueBytesMax;
}

/// <summary>What putting an entry came to.</summary>
internal enum PutResult
{
    Added,
    Replaced,
    /// <summary>Memory ran out; nothing has changed.</summary>
    Failed,
}
