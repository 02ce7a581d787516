namespace Garnet.Wire.Consistency;

/// <summary>
/// Says whether a history can be explained by one sequence of all writes, of which every read has seen a prefix. Knows nothing of
/// batches and believes no token: it goes by what was sent and answered when.
///
/// Each read stands somewhere in the sequence: behind the writes whose values it has seen, before the next writes of those keys. A write
/// that was acknowledged before another was sent stands before it; a read stands before all that was sent after its end, behind all
/// that was acknowledged before its <see cref="Read.NotBefore"/>, and behind the reads of its place that had ended when it began.
/// All these say only "before": there is such a sequence if and only if they make no circle. Time is made of nodes too, one after
/// the other, so that "everything before this moment" is one edge.
/// </summary>
internal sealed class Checker
{
    private readonly List<List<int>> _after = [];
    private readonly List<string> _names = [];
    private readonly History _history;
    private readonly Dictionary<(string Key, string Value), int> _writeOf = [];
    private readonly Dictionary<(string Key, string Value), int> _nextOf = [];
    private readonly Dictionary<string, int> _firstOf = [];

    private Checker(History history) => _history = history;

    /// <summary>Null if there is a sequence; else what contradicts what.</summary>
    public static string? Fault(History history) => new Checker(history).Fault();

    private string? Fault()
    {
        AddWrites();
        int[] reads = [.. _history.Reads.Select(read => Node(read.ToString()))];
        if (AddSeen(reads) is { } never) return never;
        AddTime(reads);
        foreach (IGrouping<string, int> place in Enumerable.Range(0, reads.Length).GroupBy(i => _history.Reads[i].Place)) AddPlace([.. place], reads);
        return FindCircle();
    }

    private int Node(string name)
    {
        _after.Add([]);
        _names.Add(name);
        return _after.Count - 1;
    }

    private void Edge(int before, int after) => _after[before].Add(after);

    // Writes are nodes 0, 1, … in the order in which they were begun.
    private void AddWrites()
    {
        var last = new Dictionary<string, (string Value, int Node)>();
        foreach (Write write in _history.Writes)
        {
            int node = Node(write.ToString());
            if (write.IsLost) continue;
            foreach ((string key, string value) in write.Pairs)
            {
                _writeOf.Add((key, value), node);
                if (last.TryGetValue(key, out (string Value, int Node) before))
                {
                    _nextOf[(key, before.Value)] = node;
                    Edge(before.Node, node);
                }
                else _firstOf[key] = node;
                last[key] = (value, node);
            }
        }
    }

    private string? AddSeen(int[] reads)
    {
        for (int i = 0; i < reads.Length; i++)
        {
            foreach ((string key, string? value) in _history.Reads[i].Seen)
            {
                int next;
                if (value is null)
                {
                    if (_firstOf.TryGetValue(key, out next)) Edge(reads[i], next);
                    continue;
                }
                if (!_writeOf.TryGetValue((key, value), out int write)) return $"{_history.Reads[i]}: nobody has written {key}={value}, or it was lost";
                Edge(write, reads[i]);
                if (_nextOf.TryGetValue((key, value), out next)) Edge(reads[i], next);
            }
        }
        return null;
    }

    private void AddTime(int[] reads)
    {
        var line = new Timeline(this, _history.Writes.SelectMany(static write => new[] { write.Begin, write.End })
            .Concat(_history.Reads.SelectMany(static read => new[] { read.End, read.NotBefore })));
        for (int node = 0; node < _history.Writes.Count; node++)
        {
            line.Behind(node, _history.Writes[node].Begin);
            if (_history.Writes[node].End != long.MaxValue) line.Before(node, _history.Writes[node].End);
        }
        for (int i = 0; i < reads.Length; i++)
        {
            line.Before(reads[i], _history.Reads[i].End);
            if (_history.Reads[i].NotBefore != 0) line.Behind(reads[i], _history.Reads[i].NotBefore);
        }
    }

    private void AddPlace(int[] here, int[] reads)
    {
        var line = new Timeline(this, here.SelectMany(i => new[] { _history.Reads[i].Begin, _history.Reads[i].End }));
        foreach (int i in here)
        {
            line.Behind(reads[i], _history.Reads[i].Begin);
            line.Before(reads[i], _history.Reads[i].End);
        }
    }

    // What cannot be put into an order is a circle or hangs on one: going back from any of it ends in the circle.
    private string? FindCircle()
    {
        int[] waits = new int[_after.Count];
        foreach (int node in _after.SelectMany(static nodes => nodes)) waits[node]++;
        var free = new Stack<int>(Enumerable.Range(0, waits.Length).Where(node => waits[node] == 0));
        int left = waits.Length;
        while (free.TryPop(out int node))
        {
            left--;
            foreach (int next in _after[node])
                if (--waits[next] == 0) free.Push(next);
        }
        return left == 0 ? null : Describe(waits);
    }

    private string Describe(int[] waits)
    {
        var before = new Dictionary<int, int>();
        for (int node = 0; node < waits.Length; node++)
        {
            if (waits[node] == 0) continue;
            foreach (int next in _after[node])
                if (waits[next] > 0) before[next] = node;
        }
        int at = before.Keys.First();
        var seen = new HashSet<int>();
        while (seen.Add(at)) at = before[at];
        List<string> circle = [];
        int start = at;
        do
        {
            if (_names[at].Length > 0) circle.Add(_names[at]);
            at = before[at];
        }
        while (at != start);
        circle.Reverse();
        return "each of these must stand before the next, and the last before the first:\n" + string.Join('\n', circle);
    }

    /// <summary>Moments in their order: a node is before a moment, or behind all moments before one.</summary>
    private sealed class Timeline
    {
        private readonly Checker _checker;
        private readonly long[] _times;
        private readonly int _first;

        public Timeline(Checker checker, IEnumerable<long> times)
        {
            _checker = checker;
            _times = [.. times.Distinct().Order()];
            _first = checker._after.Count;
            for (int i = 0; i < _times.Length; i++)
            {
                checker.Node("");
                if (i > 0) checker.Edge(_first + i - 1, _first + i);
            }
        }

        public void Before(int node, long time) => _checker.Edge(node, _first + Array.BinarySearch(_times, time));

        public void Behind(int node, long time)
        {
            int at = Array.BinarySearch(_times, time);
            if (at > 0) _checker.Edge(_first + at - 1, node);
        }
    }
}
