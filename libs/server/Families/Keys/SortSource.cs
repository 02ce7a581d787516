using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>Copies the elements of a list, a set or a sorted set, in their own order.</summary>
internal struct SortSource() : IExamine
{
    internal readonly List<byte[]> Elements = [];
    internal RecordKind Kind;

    internal readonly bool IsWrongKind => Kind is not (RecordKind.None or RecordKind.List or RecordKind.Set or RecordKind.SortedSet);

    public void Look(ref RecordEdit record)
    {
        Kind = record.Kind;
        if (Kind == RecordKind.List)
            TakeList(ref record);
        else if (Kind == RecordKind.Set)
            TakeSet(ref record);
        else if (Kind == RecordKind.SortedSet)
            TakeSorted(ref record);
    }

    private readonly void TakeList(ref RecordEdit record)
    {
        ListWalk walk = ListWalk.From(ref record, 0);
        while (walk.Next(ref record))
            Elements.Add(walk.Span.ToArray());
    }

    private readonly void TakeSet(ref RecordEdit record)
    {
        var walk = default(MemberWalk);
        while (walk.Next(ref record, EntryForm.Member))
            Elements.Add(walk.Current.KeySpan.ToArray());
    }

    private readonly void TakeSorted(ref RecordEdit record)
    {
        var walk = default(SortedWalk);
        walk.Begin(ref record, 0, HiddenRanks.Of(ref record));
        while (walk.Next(ref record))
            Elements.Add(walk.Span.ToArray());
    }
}
