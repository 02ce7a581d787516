using System.Diagnostics.CodeAnalysis;

namespace Tsavorite;

/// <summary>
/// Reads in the order in which they have come, each of which learns the time at the first <see cref="Stamp"/> behind it. That looks at those alone that came since the last: there are
/// thousands, and it is asked for every round.
/// </summary>
internal sealed class ReadQueue
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
        RemoveFrom(_fresh, read);
        return RemoveFrom(_all, read);
    }

    /// <summary>
    /// Takes the first of those that need not wait in vain: what has come before the device was late is not to wait as long again behind it, and is refused; what nobody waits
    /// for any more is left.
    /// </summary>
    public static bool TryTake(
        Queue<ColdRead> reads, DeviceReads device, Action<ColdRead> refuse, Action<ColdRead> leave, [NotNullWhen(true)] out ColdRead? first)
    {
        while (reads.TryDequeue(out first))
        {
            if (!device.MayBegin(first))
                refuse(first);
            else if (first.IsInVain)
                leave(first);
            else
                return true;
        }

        return false;
    }

    /// <summary>The first of those, which stays where it stands; those before it that nobody waits for any more, and that have not been begun, are left.</summary>
    public static bool TryPeek(Queue<ColdRead> reads, Action<ColdRead> leave, [NotNullWhen(true)] out ColdRead? first)
    {
        while (reads.TryPeek(out first) && first is { IsInVain: true, Long: null }) leave(reads.Dequeue());
        return first is not null;
    }

    /// <summary>Brings what these words name before the others. A walk.</summary>
    public static void Prefer(Queue<ColdRead> reads, List<ulong> words)
    {
        HashSet<ulong> preferred = [.. words];
        List<ColdRead> first = [], others = [];
        foreach (ColdRead read in reads) (preferred.Contains(read.Word) ? first : others).Add(read);
        reads.Clear();
        foreach (ColdRead read in first) reads.Enqueue(read);
        foreach (ColdRead read in others) reads.Enqueue(read);
    }

    /// <summary>Takes one out of those, wherever it stands; false if it is not there. A walk.</summary>
    public static bool RemoveFrom(Queue<ColdRead> reads, ColdRead read)
    {
        int before = reads.Count;
        for (int left = before; left > 0; left--)
        {
            ColdRead next = reads.Dequeue();
            if (next != read)
                reads.Enqueue(next);
        }
        return reads.Count != before;
    }
}
