using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// The members of a chunked sorted set in order: a <see cref="Sequence"/> whose elements are score (8 bytes) and member. Its directory
/// sorts by each page's first score.
/// sortedsets.Z2: a page's sort number is the score of its first element.
/// </summary>
public static unsafe class SortedOrder
{
    /// <summary>The place that a bound means.</summary>
    public static SequencePlace PlaceOf(ref RecordEdit edit, in SortBound bound)
    {
        PageSpot page = PageOf(ref edit, bound);
        return PlaceIn(Sequence.Open(ref edit, page.Number), page, bound);
    }

    /// <summary>Names the pages in which a member with that score may lie, or would; false once so much is named that the rest has to wait.</summary>
    internal static bool TryForesee(ref RecordEdit edit, in RankedMember member, double score)
    {
        PageSpot page = PageOf(ref edit, new SortBound { Kind = BoundKind.Score, Score = score });
        if (!edit.TryForesee(page.Number, isNeeded: false))
            return false;
        if (!NextBeginsWith(ref edit, page, score))
            return true;
        PageDirectory.TryNext(ref edit, ref page);
        if (!edit.TryForesee(page.Number, isNeeded: false))
            return false;
        // Of many pages that begin with the score only a look into them tells.
        return !NextBeginsWith(ref edit, page, score)
            || edit.TryForesee(PageSought.NumberOf(ref edit, SortBound.Of(score, member.Member, member.MemberBytes)), isNeeded: false);
    }

    /// <summary>Adds a member that is not in it; false if there was no memory.</summary>
    public static bool TryAdd(ref RecordEdit edit, in Entry parts)
    {
        SortBound bound = SortBound.Of(parts.Score, parts.Key, parts.KeyBytes);
        return TryAdd(ref edit, PageOf(ref edit, bound), bound, parts, out _);
    }

    /// <summary>Removes the element that is the bound.</summary>
    public static void Remove(ref RecordEdit edit, in SortBound bound) => Remove(ref edit, PageOf(ref edit, bound), bound);

    /// <summary>Looks at what the removal of the element that is the bound will need.</summary>
    public static void Visit(ref RecordEdit edit, in SortBound bound) => Locate(ref edit, PageOf(ref edit, bound), bound);

    /// <summary>Moves a member to its new score's place; false if there was no memory: it is where it was.</summary>
    public static bool TryMove(ref RecordEdit edit, in Entry parts, double old)
    {
        SortBound from = SortBound.Of(old, parts.Key, parts.KeyBytes), to = SortBound.Of(parts.Score, parts.Key, parts.KeyBytes);
        (PageSpot target, PageSpot source) = PageDirectory.LastBelow(ref edit, to.Score, old);
        if (NextBeginsWith(ref edit, target, to.Score))
            target = PageOf(ref edit, to); // pages that begin with the same score: the members decide
        if (NextBeginsWith(ref edit, source, old))
            source = PageOf(ref edit, from);
        if (source != target)
        {
            edit.Prefetch(target.Number);
            Approach(Sequence.Open(ref edit, source.Number), old);
        }

        if (target == source && TryShift(ref edit, target, from, to, parts))
            return true;
        if (!TryAdd(ref edit, target, to, parts, out bool addsPage))
            return false;
        Remove(ref edit, addsPage ? PageOf(ref edit, from) : source, from);
        return true;
    }

    // What is walked over is asked of the memory before something else is done (CollectionCost).
    private static void Approach(SequencePage page, double score)
    {
        if (!page.HasSigns || !Sse.IsSupported)
            return;
        var stretch = new PageRange { Front = page.First, Back = page.End };
        page.Signs.Narrow(page.At, score, ref stretch);
        Sse.Prefetch0(stretch.Front);
        Sse.Prefetch0(stretch.Front + 64);
        Sse.Prefetch0(stretch.Back - 1);
        Sse.Prefetch0(stretch.Back - 65);
    }

    /// <summary>sortedsets.Z2, for a page whose content has changed.</summary>
    public static void Resort(ref RecordEdit edit, in PageSpot page)
    {
        SequencePage.Read(Sequence.Open(ref edit, page.Number).First, out byte* element, out _);
        double sort = Unsafe.ReadUnaligned<double>(element);
        if (BitConverter.DoubleToInt64Bits(sort) != BitConverter.DoubleToInt64Bits(PageDirectory.SortOf(ref edit, page)))
            PageDirectory.SetSort(ref edit, page, sort);
    }

    private static bool NextBeginsWith(ref RecordEdit edit, PageSpot page, double score) =>
        PageDirectory.TryNext(ref edit, ref page) && PageDirectory.SortOf(ref edit, page) == score;

    private static bool TryAdd(ref RecordEdit edit, in PageSpot page, in SortBound bound, in Entry parts, out bool addsPage)
    {
        SequencePlace place = PlaceIn(Sequence.Open(ref edit, page.Number), page, bound);
        bool isIn = Sequence.TryInsert(ref edit, ref place, parts.ValueSpan, parts.KeySpan, SequenceKind.Sorted, out addsPage);
        if (addsPage || (isIn && place.Index == 0))
            Resort(ref edit, place.Page);
        PageSpot before = place.Page, behind = place.Page;
        // What lies on a tier is not the other half: it has not changed.
        if (addsPage && PageDirectory.TryPrevious(ref edit, ref before) && edit.IsThere(before.Number))
            Resort(ref edit, before);
        if (addsPage && PageDirectory.TryNext(ref edit, ref behind) && edit.IsThere(behind.Number))
            Resort(ref edit, behind);
        return isIn;
    }

    private static void Remove(ref RecordEdit edit, in PageSpot page, in SortBound bound) =>
        Remove(ref edit, Locate(ref edit, page, bound));

    /// <summary>Removes the element at a place.</summary>
    internal static void Remove(ref RecordEdit edit, in SequencePlace place)
    {
        bool isEmptied = Sequence.Open(ref edit, place.Page.Number).Count == 1;
        Garnet.Common.Faults.Check.That(Sequence.TryRemove(ref edit, place, 1, SequenceKind.Sorted), "store.E4 a page can be moved");
        if (!isEmptied && place.Index == 0)
            Resort(ref edit, place.Page);
    }

    private static SequencePlace Locate(ref RecordEdit edit, in PageSpot page, in SortBound bound)
    {
        SequencePage content = Sequence.Open(ref edit, page.Number);
        SequencePlace place = PlaceIn(content, page, bound);
        // Behind the last of a page is before the first of the next.
        if (place.Index == content.Count && PageDirectory.TryNext(ref edit, ref place.Page))
        {
            content = Sequence.Open(ref edit, place.Page.Number);
            (place.Index, place.Offset) = (0, (int)(content.First - content.At));
        }

        return place;
    }

    // An element that stays in its page; false if it does not lie there, or the page cannot be changed.
    private static bool TryShift(ref RecordEdit edit, in PageSpot spot, in SortBound from, in SortBound to, in Entry parts)
    {
        if (!Sequence.TryOpenToWrite(ref edit, spot.Number, out SequencePage page))
            return false;
        SequencePlace old = PlaceIn(page, spot, from);
        if (old.Index == page.Count)
            return false;
        byte* element = page.At + old.Offset, behind = SequencePage.Read(element, out _, out _);
        page.Cut(element, behind, 1);
        byte* place = page.TryOpen(page.At + PlaceIn(page, spot, to).Offset, (int)(behind - element));
        SequencePage.Write(place, parts.ValueSpan, parts.KeySpan);
        if (old.Index == 0 || place == page.First)
            Resort(ref edit, spot);
        return true;
    }

    // The page that the bound means: the first of which the next one's first element lies above it.
    private static PageSpot PageOf(ref RecordEdit edit, in SortBound bound)
    {
        PageSlot* slots = PageDirectory.Top(ref edit, out int used);
        int branch = 0;
        if (PageDirectory.IsBranched(ref edit))
        {
            branch = LastBelow(ref edit, slots, used, areBranches: true, bound);
            slots = PageDirectory.Slots(ref edit, branch, out used);
        }

        int slot = LastBelow(ref edit, slots, used, areBranches: false, bound);
        return new PageSpot(branch, slot, slots[slot].Number);
    }

    // The last that begins below the bound, or the first.
    private static int LastBelow(ref RecordEdit edit, PageSlot* slots, int used, bool areBranches, in SortBound bound)
    {
        int low = 0;
        for (int high = used - 1; low < high;)
        {
            int middle = (low + high + 1) / 2;
            PageSlot first = areBranches && !IsDecided(slots[middle], bound)
                ? *PageDirectory.Slots(ref edit, middle, out _)
                : slots[middle];
            (low, high) = BeginsBelow(ref edit, first, bound) ? (middle, high) : (low, middle - 1);
        }

        return low;
    }

    // The place that the bound means in a page: a walk from either end, in step, as neither waits for the other (CollectionCost).
    private static SequencePlace PlaceIn(SequencePage page, in PageSpot spot, in SortBound bound)
    {
        bool byScore = bound.Kind is BoundKind.Element or BoundKind.Score;
        double wanted = bound.Score;
        var stretch = new PageRange { Front = page.First, Back = page.End, BeforeBack = page.Count };
        if (byScore && page.HasSigns)
            page.Signs.Narrow(page.At, wanted, ref stretch);
        while (stretch.Front != stretch.Back)
        {
            byte* next = SequencePage.Read(stretch.Front, out byte* element, out int length);
            double score = Unsafe.ReadUnaligned<double>(element);
            // Most are decided by the score alone.
            if (!(byScore && score < wanted) && !bound.IsAbove(score, new ReadOnlySpan<byte>(element + 8, length - 8)))
                break;
            stretch.Front = next;
            stretch.Before++;
            if (next == stretch.Back)
                break;
            byte* previous = SequencePage.Before(stretch.Back);
            SequencePage.Read(previous, out element, out length);
            score = Unsafe.ReadUnaligned<double>(element);
            if (!(byScore && score > wanted) && bound.IsAbove(score, new ReadOnlySpan<byte>(element + 8, length - 8)))
            {
                stretch.Front = stretch.Back;
                stretch.Before = stretch.BeforeBack;
                break;
            }

            stretch.Back = previous;
            stretch.BeforeBack--;
        }

        return new SequencePlace { Page = spot, Index = stretch.Before, Offset = (int)(stretch.Front - page.At) };
    }

    // The score alone says it.
    private static bool IsDecided(in PageSlot slot, in SortBound bound) =>
        bound.Kind == BoundKind.Score || (bound.Kind == BoundKind.Element && slot.Sort != bound.Score);

    private static bool BeginsBelow(ref RecordEdit edit, in PageSlot page, in SortBound bound)
    {
        if (IsDecided(page, bound))
            return bound.IsAbove(page.Sort, default);
        return BeginsBelow(ref edit, page.Number, bound);
    }

    /// <summary>True if the first element of the page of that number is below the bound.</summary>
    internal static bool BeginsBelow(ref RecordEdit edit, uint number, in SortBound bound)
    {
        SequencePage.Read(Sequence.Open(ref edit, number).First, out byte* element, out int length);
        return bound.IsAbove(Unsafe.ReadUnaligned<double>(element), new ReadOnlySpan<byte>(element + 8, length - 8));
    }
}
