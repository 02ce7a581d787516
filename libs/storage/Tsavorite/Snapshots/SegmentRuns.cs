using Garnet.Media;

namespace Tsavorite;

/// <summary>Which segments of a snapshot's table continue which (store.C10): one that is of a run without its first, or of two, or too long, is of no tier.</summary>
internal sealed class SegmentRuns
{
    private readonly Dictionary<uint, uint[]> _behind = [];

    private SegmentRuns()
    {
    }

    /// <summary>The runs of a whole table of rows that are possible each; null if they do not fit together.</summary>
    public static SegmentRuns? Of(Dictionary<uint, SegmentRow> rows, int segmentBytes)
    {
        SegmentRuns runs = new();
        IEnumerable<SegmentRow> followers = rows.Values.Where(row => row.IsFollower(segmentBytes));
        foreach (IGrouping<uint, SegmentRow> run in followers.GroupBy(static row => (uint)row.Named))
        {
            SegmentRow[] behind = [.. run.OrderBy(static row => row.Records)];
            if (!rows.TryGetValue(run.Key, out SegmentRow first) || !first.IsRun(segmentBytes) || !IsRun(first, behind, segmentBytes))
                return null;
            runs._behind[run.Key] = [.. behind.Select(static row => row.Number)];
        }
        bool areWhole = rows.Values.All(row => !row.IsRun(segmentBytes) || runs._behind.ContainsKey(row.Number));
        return areWhole ? runs : null;
    }

    /// <summary>Those behind the first, in the order of the record.</summary>
    public uint[] Behind(uint first) => _behind.GetValueOrDefault(first, []);

    /// <summary>Adds to some numbers of segments those of all runs that one of them is of.</summary>
    public void Spread(HashSet<uint> numbers)
    {
        foreach ((uint first, uint[] behind) in _behind)
        {
            if (!numbers.Contains(first) && !behind.Any(numbers.Contains))
                continue;
            numbers.Add(first);
            numbers.UnionWith(behind);
        }
    }

    private static bool IsRun(in SegmentRow first, SegmentRow[] behind, int segmentBytes)
    {
        long bytes = segmentBytes - (long)ColdSegments.PageBytes;
        for (int i = 0; i < behind.Length; i++)
        {
            int before = i == 0 ? first.Used : behind[i - 1].Used;
            bool isNext = behind[i].Records == i + 1 && before == segmentBytes && behind[i].Life == first.Life
                && behind[i].Namespace == first.Namespace && behind[i].Database == first.Database
                && IsOfMemory(behind[i].Number, segmentBytes) == IsOfMemory(first.Number, segmentBytes);
            if (!isNext)
                return false;
            bytes += behind[i].Used - (long)ColdSegments.PageBytes;
        }
        return bytes <= ColdRecord.BytesMax;
    }

    // media.M5: the parts of a tier have tables of their own, and no run lies in both.
    private static bool IsOfMemory(uint number, int segmentBytes) => (long)number * segmentBytes >= LayeredMedium.MemoryFrom;
}
