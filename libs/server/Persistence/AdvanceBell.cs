namespace Garnet.Server.Persistence;

/// <summary>
/// Wakes all who wait for the log to advance; costs whoever advances it a look as long as nobody waits. Several may wait: each looks again
/// under the gate, so that none of them takes another's word away, as the waiters of a <see cref="Base.Signal"/> would.
/// </summary>
internal sealed class AdvanceBell
{
    private readonly object _gate = new();
    private int _waiting;

    /// <summary>Something has moved; after it has.</summary>
    internal void Ring()
    {
        Interlocked.MemoryBarrier(); // what moved is seen by whoever is not counted yet
        if (Volatile.Read(ref _waiting) == 0)
            return;
        lock (_gate)
            Monitor.PulseAll(_gate);
    }

    /// <summary>Returns when the condition holds, looked at whenever the bell has rung.</summary>
    internal void Await(Func<bool> condition)
    {
        lock (_gate)
        {
            Interlocked.Increment(ref _waiting);
            while (!condition())
                Monitor.Wait(_gate);
            Interlocked.Decrement(ref _waiting);
        }
    }
}
