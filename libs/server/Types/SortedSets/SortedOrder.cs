using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.SortedSets;

/// <summary>
/// The members of a chunked sorted set in order: a <see cref="Sequence"/> whose elements are score (8 bytes) and member. Its directory
/// sorts by each page's first score.
/// Z2: a page's sort number is the score of its first element.
/// </summary>
internal static unsafe class SortedOrder
{
    /// <summary>The place that a bound means.</summary>
    internal static SequencePlace PlaceOf(ref RecordEdit edit, in SortBound bound)
    {
        int page = PageOf(ref edit, bound);
        return PlaceIn(Sequence.Open(ref edit, page), page, bound);
    }

    /// <summary>Adds a member that is not in it; false if there was no memory.</summary>
    internal static bool TryAdd(ref RecordEdit edit, in Entry parts)
    {
        SortBound bound = SortBound.Of(parts.Score, parts.Key, parts.KeyBytes);
        return TryAdd(ref edit, PageOf(ref edit, bound), bound, parts);
    }

    /// <summary>Removes the element that is the bound.</summary>
    internal static void Remove(ref RecordEdit edit, in SortBound bound) => Remove(ref edit, PageOf(ref edit, bound), bound);

    /// <summary>Moves a member to its new score's place; false if there was no memory: it is where it was.</summary>
    internal static bool TryMove(ref RecordEdit edit, in Entry parts, double old)
    {
        SortBound from = SortBound.Of(old, parts.Key, parts.KeyBytes), to = SortBound.Of(parts.Score, parts.Key, parts.KeyBytes);
        int pages = Sequence.PagesOf(ref edit);
        (int target, int source) = Sequence.LastBelow(edit.Value, to.Score, old);
        if (target + 1 < pages && Sequence.SortOf(edit.Value, target + 1) == to.Score)
            target = PageOf(ref edit, to); // pages that begin with the same score: the members decide
        if (source + 1 < pages && Sequence.SortOf(edit.Value, source + 1) == old)
            source = PageOf(ref edit, from);
        if (source != target)
        {
            Sequence.Prefetch(ref edit, target);
            Approach(Sequence.Open(ref edit, source), old);
        }

        if (target == source && TryShift(ref edit, target, from, to, parts))
            return true;
        if (!TryAdd(ref edit, target, to, parts))
            return false;
        Remove(ref edit, pages == Sequence.PagesOf(ref edit) ? source : PageOf(ref edit, from), from);
        return true;
    }

    // What is walked over is asked of the memory before something else is done (CollectionCost).
    private static void Approach(SequencePage page, double score)
    {
        if (!page.HasSigns || !Sse.IsSupported)
            return;
        var stretch = new Stretch { Front = page.First, Back = page.End };
        page.Signs.Narrow(page.At, score, ref stretch);
        Sse.Prefetch0(stretch.Front);
        Sse.Prefetch0(stretch.Front + 64);
        Sse.Prefetch0(stretch.Back - 1);
        Sse.Prefetch0(stretch.Back - 65);
    }

    /// <summary>Z2, for a page whose content has changed.</summary>
    internal static void Resort(ref RecordEdit edit, int page)
    {
        SequencePage.Read(Sequence.Open(ref edit, page).First, out byte* element, out _);
        double sort = Unsafe.ReadUnaligned<double>(element);
        if (BitConverter.DoubleToInt64Bits(sort) != BitConverter.DoubleToInt64Bits(Sequence.SortOf(edit.Value, page)))
            Sequence.SetSort(ref edit, page, sort);
    }

    private static bool TryAdd(ref RecordEdit edit, int page, in SortBound bound, in Entry parts)
    {
        SequencePlace place = PlaceIn(Sequence.Open(ref edit, page), page, bound);
        int pages = Sequence.PagesOf(ref edit), index = place.Index;
        if (!Sequence.TryInsert(ref edit, ref place, parts.ValueSpan, parts.KeySpan, SequenceKind.Sorted))
            return false;
        bool isDivided = pages != Sequence.PagesOf(ref edit);
        if (index == 0 && !isDivided)
            Resort(ref edit, page);
        for (int i = page; isDivided && i < Math.Min(page + 3, Sequence.PagesOf(ref edit)); i++)
            Resort(ref edit, i); // a neighbour was made, or has another number
        return true;
    }

    private static void Remove(ref RecordEdit edit, int page, in SortBound bound)
    {
        SequencePlace place = PlaceIn(Sequence.Open(ref edit, page), page, bound);
        // Behind the last of a page is before the first of the next.
        if (place.Index == Sequence.CountOf(edit.Value, page))
            place = new SequencePlace { Page = page + 1, Offset = FirstOffset(ref edit, page + 1) };
        bool isEmptied = Sequence.CountOf(edit.Value, place.Page) == 1;
        Garnet.Common.Faults.Check.That(Sequence.TryRemove(ref edit, place, 1, SequenceKind.Sorted), "E4 a page can be moved");
        if (!isEmptied && place.Index == 0)
            Resort(ref edit, place.Page);
    }

    // An element that stays in its page; false if it does not lie there, or the page cannot be changed.
    private static bool TryShift(ref RecordEdit edit, int number, in SortBound from, in SortBound to, in Entry parts)
    {
        if (!Sequence.TryOpenToWrite(ref edit, number, out SequencePage page))
            return false;
        SequencePlace old = PlaceIn(page, number, from);
        if (old.Index == page.Count)
            return false;
        byte* element = page.At + old.Offset, behind = SequencePage.Read(element, out _, out _);
        page.Cut(element, behind, 1);
        byte* place = page.TryOpen(page.At + PlaceIn(page, number, to).Offset, (int)(behind - element));
        SequencePage.Write(place, parts.ValueSpan, parts.KeySpan);
        if (old.Index == 0 || place == page.First)
            Resort(ref edit, number);
        return true;
    }

    private static int FirstOffset(ref RecordEdit edit, int page)
    {
        SequencePage first = Sequence.Open(ref edit, page);
        return (int)(first.First - first.At);
    }

    // The page that the bound means: the first of which the next one's first element lies above it.
    private static int PageOf(ref RecordEdit edit, in SortBound bound)
    {
        int low = 0, high = Sequence.PagesOf(ref edit) - 1;
        while (low < high)
        {
            int middle = (low + high + 1) / 2;
            if (BeginsBelow(ref edit, middle, bound))
                low = middle;
            else
                high = middle - 1;
        }

        return low;
    }

    // The place that the bound means in a page: a walk from either end, in step, as neither waits for the other (CollectionCost).
    private static SequencePlace PlaceIn(SequencePage page, int number, in SortBound bound)
    {
        bool byScore = bound.Kind is BoundKind.Element or BoundKind.Score;
        double wanted = bound.Score;
        var stretch = new Stretch { Front = page.First, Back = page.End, BeforeBack = page.Count };
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

        return new SequencePlace { Page = number, Index = stretch.Before, Offset = (int)(stretch.Front - page.At) };
    }

    private static bool BeginsBelow(ref RecordEdit edit, int page, in SortBound bound)
    {
        double sort = Sequence.SortOf(edit.Value, page);
        if (bound.Kind == BoundKind.Score || (bound.Kind == BoundKind.Element && sort != bound.Score))
            return bound.IsAbove(sort, default);
        SequencePage.Read(Sequence.Open(ref edit, page).First, out byte* element, out int length);
        return bound.IsAbove(sort, new ReadOnlySpan<byte>(element + 8, length - 8));
    }
}
