namespace Garnet.Types.Lists;

/// <summary>Start and stop of a range as commands have them: from 0, or from the end if negative.</summary>
public static class IndexRange
{
    /// <summary>Both as indexes from 0, cut to what is there; the start is behind the stop if nothing is meant.</summary>
    public static (long Start, long Stop) Of(long start, long stop, long count)
    {
        start = start < 0 ? Math.Max(start + count, 0) : start;
        stop = stop < 0 ? stop + count : Math.Min(stop, count - 1);
        return start >= count ? (1, 0) : (start, stop);
    }
}
