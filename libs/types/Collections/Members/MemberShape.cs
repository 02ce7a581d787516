using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>A type whose entries are found by key: what its root is and what its entries carry.</summary>
public readonly record struct MemberShape(RecordKind Kind, EntryForm Form)
{
    public static readonly MemberShape Hash = new(RecordKind.Hash, EntryForm.Pair);
    public static readonly MemberShape Set = new(RecordKind.Set, EntryForm.Member);
    public static readonly MemberShape SortedSet = new(RecordKind.SortedSet, EntryForm.Scored);
}
