using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// The ranks, among all members, of those that are due and not removed yet: readers count and go past them. There are none in a set
/// whose members never had an expiry, and few in others: they are removed within some ticks.
/// </summary>
public readonly unsafe struct HiddenRanks
{
    private readonly List<long>? _ranks;

    private HiddenRanks(List<long>? ranks) => _ranks = ranks;

    public bool IsNone => _ranks is null;

    public long Count => _ranks?.Count ?? 0;

    /// <summary>Those at the record's time.</summary>
    public static HiddenRanks Of(ref RecordEdit record) => Root.Has(record.Value, RootFlags.Expiring) ? Find(ref record) : default;

    /// <summary>True if a member is hidden.</summary>
    public static bool Any(ref RecordEdit record)
    {
        if (!Root.Has(record.Value, RootFlags.Expiring))
            return false;
        if (Root.IsChunked(record.Value))
            return default(SortedTimes.DueWalk).Next(ref record, out _);
        for (var walk = default(MemberWalk); walk.Next(ref record, EntryForm.Scored);)
        {
            if (walk.Current.IsDue(record.NowMs))
                return true;
        }

        return false;
    }

    /// <summary>True if the member of that rank among all is hidden.</summary>
    public bool Has(long rank) => _ranks!.BinarySearch(rank) >= 0;

    /// <summary>A rank among all as one among those that are shown.</summary>
    public long Shown(long rank)
    {
        if (_ranks is null)
            return rank;
        int index = _ranks.BinarySearch(rank);
        return rank - (index >= 0 ? index : ~index);
    }

    /// <summary>The reverse: the rank among all of who has that one among those shown, or of the end.</summary>
    public long Among(long shown)
    {
        int low = 0, high = (int)Count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_ranks![middle] - middle <= shown)
                low = middle + 1;
            else
                high = middle;
        }

        return shown + low;
    }

    private static HiddenRanks Find(ref RecordEdit record)
    {
        List<long>? ranks = null;
        if (Root.IsChunked(record.Value))
        {
            for (var walk = default(SortedTimes.DueWalk); walk.Next(ref record, out Entry entry);)
                (ranks ??= []).Add(SortedForm.CountBelow(ref record, SortBound.Of(entry.Score, entry.Key, entry.KeyBytes)));
            ranks?.Sort();
            return new HiddenRanks(ranks);
        }

        long rank = 0;
        for (var walk = default(MemberWalk); walk.Next(ref record, EntryForm.Scored); rank++)
        {
            if (walk.Current.IsDue(record.NowMs))
                (ranks ??= []).Add(rank);
        }

        return new HiddenRanks(ranks);
    }
}
