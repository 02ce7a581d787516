namespace Garnet.Server.Replication;

/// <summary>What reads on a replica have met. From any thread.</summary>
internal sealed class ReadFigures
{
    private long _waits, _retries, _heldUpUs;
    private int _waiting;

    /// <summary>Reads that wait for a batch to be applied.</summary>
    internal int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Reads that have waited for a batch.</summary>
    internal long Waits => Interlocked.Read(ref _waits);

    /// <summary>Runs of reads whose reply was taken back, since a batch came in between.</summary>
    internal long Retries => Interlocked.Read(ref _retries);

    /// <summary>The time for which batches stood back for readers.</summary>
    internal long HeldUpUs => Interlocked.Read(ref _heldUpUs);

    internal void BeginWait()
    {
        Interlocked.Increment(ref _waits);
        Interlocked.Increment(ref _waiting);
    }

    internal void EndWait() => Interlocked.Decrement(ref _waiting);

    internal void CountRetry() => Interlocked.Increment(ref _retries);

    internal void CountHeldUp(long us) => Interlocked.Add(ref _heldUpUs, us);
}
