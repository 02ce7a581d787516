namespace Garnet.Server.Rights;

/// <summary>
/// The last refusals, newest first (ACL LOG), and how many there were of each kind. One who is refused the same again within a minute is counted, not listed again: a
/// flood fills it no further, and takes a lock and a look at few entries for each.
/// </summary>
internal sealed class DenialLog(Func<int> entriesMax)
{
    /// <summary>Bytes of an object that are kept: a key may have 512 MiB.</summary>
    internal const int ObjectBytesMax = 1024;

    private const long SameMs = 60_000;
    private const int Looks = 10; // as far as Redis looks for the same

    private readonly Lock _gate = new();
    private readonly LinkedList<Denial> _entries = new();
    private readonly long[] _counts = new long[DenialReasons.Count];

    /// <summary>How many refusals there were for the reason.</summary>
    internal long CountOf(DenialReason reason) => Volatile.Read(ref _counts[(int)reason]);

    /// <summary>Notes one.</summary>
    internal void Add(Denial denial)
    {
        Interlocked.Increment(ref _counts[(int)denial.Reason]);
        lock (_gate)
        {
            LinkedListNode<Denial> node = FindLocked(denial) ?? new LinkedListNode<Denial>(denial);
            if (node.List is not null)
            {
                _entries.Remove(node);
                node.Value.Count++;
                (node.Value.UnixMs, node.Value.Client) = (denial.UnixMs, denial.Client);
            }

            _entries.AddFirst(node);
            TrimLocked();
        }
    }

    /// <summary>The newest entries, as they are now.</summary>
    internal List<Denial> Newest(long count)
    {
        lock (_gate)
            return [.. _entries.Take((int)Math.Clamp(count, 0, int.MaxValue)).Select(static entry => entry with { })];
    }

    internal void Clear()
    {
        lock (_gate)
            _entries.Clear();
    }

    /// <summary>The counts of refusals begin anew.</summary>
    internal void ResetCounts()
    {
        for (int i = 0; i < _counts.Length; i++)
            Volatile.Write(ref _counts[i], 0);
    }

    /// <summary>Takes a lowered length over.</summary>
    internal void Trim()
    {
        lock (_gate)
            TrimLocked();
    }

    private LinkedListNode<Denial>? FindLocked(Denial denial)
    {
        LinkedListNode<Denial>? node = _entries.First;
        for (int looks = 0; looks < Looks && node is not null; looks++, node = node.Next)
        {
            Denial one = node.Value;
            bool isSame = (one.Reason, one.Place, one.Object, one.User) == (denial.Reason, denial.Place, denial.Object, denial.User);
            if (isSame && denial.UnixMs - one.UnixMs <= SameMs)
                return node;
        }

        return null;
    }

    private void TrimLocked()
    {
        while (_entries.Count > entriesMax())
            _entries.RemoveLast();
    }
}
