using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Which entries are to be trimmed: all but so many, or all before an id.</summary>
public unsafe struct TrimPlan
{
    private const long WorkMax = 1_000_000, WorkDefault = 10_000;

    public bool IsSet;
    public bool ByLength;
    public long LengthMax;
    public StreamId MinId;
    /// <summary>Only whole pages go.</summary>
    public bool IsRough;
    /// <summary>Entries removed at most, 0 for no limit.</summary>
    public long Limit;

    /// <summary>The first so many.</summary>
    public static TrimPlan First(long count) => new() { IsSet = true, LengthMax = -count, ByLength = true };

    /// <summary>What a rough trim removes at most where nobody says so.</summary>
    public static long LimitFor(long pageEntries) => pageEntries <= 0 ? WorkDefault : Math.Min(100 * pageEntries, WorkMax);

    /// <summary>How many entries at the front are to go.</summary>
    public readonly long Count(ref RecordEdit edit)
    {
        StreamHeader* root = StreamForm.Header(ref edit);
        if (ByLength && LengthMax < 0) // a number
            return Math.Min(-LengthMax, root->Length);
        long wanted = ByLength ? root->Length - LengthMax : 0;
        if (ByLength && wanted <= 0)
            return 0;
        if (ByLength && !IsRough && Limit == 0)
            return wanted;
        return CountPages(ref edit, wanted);
    }

    private readonly long CountPages(ref RecordEdit edit, long wanted)
    {
        long count = 0;
        int pages = StreamForm.Header(ref edit)->Pages;
        for (int number = 0; number < pages && (!ByLength || count < wanted); number++)
        {
            StreamPage page = StreamForm.PageAt(ref edit, number);
            int live = page.Live;
            if (Limit > 0 && count + live > Limit)
                break;
            bool goesWhole = ByLength ? count + live <= wanted : page.Last < MinId;
            if (goesWhole)
            {
                count += live;
                continue;
            }

            return IsRough ? count : ByLength ? wanted : count + CountBefore(ref edit, number, page);
        }

        return count;
    }

    private readonly long CountBefore(ref RecordEdit edit, int number, StreamPage page)
    {
        long count = 0;
        StreamEntry entry = page.Before(StreamForm.Slot(edit.Value, number)->First);
        while (page.Step(ref entry) && entry.Id < MinId)
            count += StreamPage.IsLive(entry) ? 1 : 0;
        return count;
    }
}
