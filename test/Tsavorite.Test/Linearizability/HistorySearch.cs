namespace Tsavorite.Test.Linearizability;

/// <summary>
/// Looks for an order of the calls on one key that keeps real time (a call that returned before another was made goes
/// first) and explains every result. States reached with the same set of calls done are looked at once.
/// </summary>
internal sealed class HistorySearch
{
    private readonly RegisterCall[] _calls;
    private readonly HashSet<(ulong Done, long? State)> _seen = [];

    private HistorySearch(RegisterCall[] calls) => _calls = calls;

    /// <summary>True if some order explains the history of at most 64 calls on a key that began as given.</summary>
    public static bool Explains(IReadOnlyCollection<RegisterCall> history, long? start)
    {
        if (history.Count > 64) throw new ArgumentException("At most 64 calls.", nameof(history));
        HistorySearch search = new([.. history.OrderBy(call => call.CalledAt)]);
        return search.From(0, start);
    }

    private bool From(ulong done, long? state)
    {
        if (System.Numerics.BitOperations.PopCount(done) == _calls.Length) return true;
        if (!_seen.Add((done, state))) return false;
        long firstReturn = long.MaxValue;
        for (int i = 0; i < _calls.Length; i++)
            if ((done >> i & 1) == 0) firstReturn = Math.Min(firstReturn, _calls[i].ReturnedAt);
        for (int i = 0; i < _calls.Length && _calls[i].CalledAt <= firstReturn; i++)
        {
            if ((done >> i & 1) != 0 || !_calls[i].Allows(state, out long? after)) continue;
            if (From(done | 1UL << i, after)) return true;
        }
        return false;
    }
}
