using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>A range of a sorted set: by ranks, or between two bounds; from either end, perhaps limited.</summary>
public struct SortRange
{
    public bool ByRank;
    public long Start;
    public long Stop;
    public SortBound Low;
    public SortBound High;
    /// <summary>Counted and shown from the greatest element down.</summary>
    public bool Reverse;
    public long Offset;
    /// <summary>Most elements, negative for all.</summary>
    public long Limit;

    /// <summary>The rank of the smallest element of the range and the number of elements, both of those that are shown.</summary>
    public readonly unsafe (long Rank, long Count) Resolve(ref RecordEdit edit, in HiddenRanks hidden)
    {
        long count = Root.Count(edit.Value) - hidden.Count;
        if (ByRank)
        {
            (long start, long stop) = IndexRange.Of(Start, Stop, count);
            if (start > stop)
                return (0, 0);
            return (Reverse ? count - 1 - stop : start, stop - start + 1);
        }

        long low = SortedForm.CountBelow(ref edit, Low, hidden), high = SortedForm.CountBelow(ref edit, High, hidden);
        if (low >= high || Offset < 0 || Offset >= high - low)
            return (0, 0);
        long wanted = Limit < 0 ? high - low - Offset : Math.Min(Limit, high - low - Offset);
        return (Reverse ? high - Offset - wanted : low + Offset, wanted);
    }
}
