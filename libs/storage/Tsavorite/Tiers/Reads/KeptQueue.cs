using System.Diagnostics.CodeAnalysis;

namespace Tsavorite;

/// <summary>
/// Reads that are kept (<see cref="KeptReads"/>), in the order in which they have come, each of which learns the time at the first <see cref="Stamp"/> behind it.
/// That looks at those alone that came since the last: there are thousands, and it is asked for every round.
/// </summary>
internal sealed class KeptQueue
{
    private readonly Queue<ColdRead> _all = new(), _fresh = new(); // the second are the last of the first

    public int Count => _all.Count;

    public bool TryPeek([NotNullWhen(true)] out ColdRead? first) => _all.TryPeek(out first);

    public ColdRead Peek() => _all.Peek();

    public void Enqueue(ColdRead read)
    {
        _all.Enqueue(read);
        _fresh.Enqueue(read);
    }

    public ColdRead Dequeue()
    {
        ColdRead first = _all.Dequeue();
        if (_fresh.TryPeek(out ColdRead? fresh) && fresh == first)
            _fresh.Dequeue();
        return first;
    }

    /// <summary>Those that have no time yet have this one.</summary>
    public void Stamp(long nowMs)
    {
        while (_fresh.TryDequeue(out ColdRead? read)) read.KeptSinceMs = nowMs;
    }

    /// <summary>Takes one out, wherever it stands; false if it is not there. A walk.</summary>
    public bool Remove(ColdRead read)
    {
        int before = _all.Count;
        RemoveFrom(_fresh, read);
        RemoveFrom(_all, read);
        return _all.Count != before;
    }

    private static void RemoveFrom(Queue<ColdRead> reads, ColdRead read)
    {
        for (int left = reads.Count; left > 0; left--)
        {
            ColdRead next = reads.Dequeue();
            if (next != read)
                reads.Enqueue(next);
        }
    }
}
