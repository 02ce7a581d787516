using Garnet.Common.Time;

namespace Garnet.Replication;

/// <summary>
/// A full copy whose link broke, for its replica to come back to. One at a time, for a limited time: its snapshot keeps others from being
/// taken, and what writers change meanwhile is kept in memory.
/// </summary>
public sealed class ResumableCopy(IClock clock)
{
    private const int LookMs = 100;

    private readonly object _gate = new();
    private (string RunId, FullCopy Copy)? _kept;
    private int _role;
    private bool _closed;

    /// <summary>Grows with every role that this server takes: a copy of one role is of no use in the next.</summary>
    public int Role => Volatile.Read(ref _role);

    /// <summary>Takes over a copy that was begun in a role; if it cannot be kept, it is gone.</summary>
    public void Put(string runId, FullCopy copy, int role)
    {
        lock (_gate)
        {
            if (!_closed && _kept is null && role == _role)
            {
                _kept = (runId, copy);
                return;
            }
        }

        copy.Dispose();
    }

    /// <summary>Waits until the copy has been taken, or so long; then it is gone. On the thread of its broken link.</summary>
    public void Await(FullCopy copy, int milliseconds)
    {
        long until = clock.MonotonicUs + (milliseconds * 1000L);
        lock (_gate)
        {
            while (_kept?.Copy == copy && clock.MonotonicUs < until)
                Monitor.Wait(_gate, LookMs);
            if (_kept?.Copy == copy)
                DropKept();
        }
    }

    /// <summary>The copy that the replica had begun, to go on where it was; null if it is not here, or goes on no more: then it is gone.</summary>
    public FullCopy? Take(string runId, CopyPlace? place)
    {
        lock (_gate)
        {
            if (_kept is not { } kept || kept.RunId != runId)
                return null;
            _kept = null;
            Monitor.PulseAll(_gate);
            if (place is not null && kept.Copy.TryResume(place))
                return kept.Copy;
            kept.Copy.Dispose();
            return null;
        }
    }

    /// <summary>This server takes another role, or gets other data.</summary>
    public void Drop()
    {
        lock (_gate)
        {
            _role++;
            DropKept();
        }
    }

    /// <summary>Nothing is kept any more; nobody who has put a copy here touches it after this has returned.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _closed = true;
            DropKept();
        }
    }

    // Whoever waits for it learns that it is gone.
    private void DropKept()
    {
        _kept?.Copy.Dispose();
        _kept = null;
        Monitor.PulseAll(_gate);
    }
}
