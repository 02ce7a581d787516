namespace Garnet.Server.Bulk;

/// <summary>
/// Which bytes of a value that comes in parts are there. Memory that nobody has written holds what others left in it: a value is whole
/// only when all of it was written.
/// </summary>
internal sealed class WrittenRanges(int length)
{
    // Parts come in order, or a few at a time; who leaves more gaps than these fills some first.
    private const int GapsMax = 1024;

    private readonly SortedList<int, int> _ends = []; // the end of each range by its beginning; none touches another

    /// <summary>True once all bytes are there.</summary>
    internal bool IsWhole => length == 0 || (_ends.Count == 1 && _ends.TryGetValue(0, out int end) && end == length);

    /// <summary>Adds some; false if there are too many gaps.</summary>
    internal bool TryAdd(int start, int end)
    {
        if (start == end)
            return true;
        int at = FirstThatEndsAtOrBehind(start);
        while (at < _ends.Count && _ends.Keys[at] <= end)
        {
            start = Math.Min(start, _ends.Keys[at]);
            end = Math.Max(end, _ends.Values[at]);
            _ends.RemoveAt(at);
        }

        if (_ends.Count >= GapsMax)
            return false;
        _ends.Add(start, end);
        return true;
    }

    /// <summary>Takes some out: what is to be written anew, and may come in part.</summary>
    internal void Remove(int start, int end)
    {
        for (int at = FirstThatEndsAtOrBehind(start + 1); start < end && at < _ends.Count && _ends.Keys[at] < end;)
        {
            (int from, int to) = (_ends.Keys[at], _ends.Values[at]);
            _ends.RemoveAt(at);
            if (from < start)
            {
                _ends.Add(from, start);
                at++;
            }

            if (to > end)
                _ends.Add(end, to);
        }
    }

    private int FirstThatEndsAtOrBehind(int start)
    {
        int low = 0, high = _ends.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_ends.Values[middle] < start)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }
}
