using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// What the step of a session may still write to the log. All changes of a step are in one batch, and a batch is read back whole.
/// U20: a change is made only after the log has promised to take its entry: a step longer than the log allows is refused at the change that
/// would make it so, before it is made.
/// </summary>
internal sealed unsafe class StepBudget(StoreCore core)
{
    // Small changes of a step are announced together: one atomic for so many bytes.
    private const long GrainBytes = 1 << 20;

    private ulong _batch;
    private long _stepBytes, _announcedBytes;

    /// <summary>The locks of the step are given back.</summary>
    public void EndStep()
    {
        _stepBytes = _announcedBytes = 0;
        _batch = 0;
    }

    /// <summary>A change in a step that holds its locks is about to write so many bytes.</summary>
    public void Take(Partition* partition, long bytes)
    {
        if (_stepBytes + bytes > _announcedBytes) Ask(partition, bytes);
        _stepBytes += bytes;
    }

    /// <summary>Announces what the step will write besides what it has.</summary>
    public void Ask(Partition* partition, long bytes)
    {
        IWriteLog log = core.Log!;
        TooLargeException.Above(log.StepBytesMax, _stepBytes + bytes, What);
        ulong batch = core.BatchOf(partition);
        if (batch != _batch) _announcedBytes = _stepBytes; // the step has ended a batch itself
        _batch = batch;
        long more = Math.Max(_stepBytes + bytes - _announcedBytes, GrainBytes);
        if (more <= 0) return;
        // Other long steps run beside this one. It holds locks, so that nothing can be waited for.
        if (!log.TryAnnounce(batch, more)) throw new TooLargeException("a step of the append-only file beside others that run at the same time, try again;", _stepBytes + bytes, log.StepBytesMax);
        _announcedBytes += more;
    }

    /// <summary>Takes the lock for a change that is a step by itself, and announces it; waits, without the lock, until a batch has room.</summary>
    public void EnterAlone(Partition* partition, long bytes)
    {
        TooLargeException.Above(core.Log!.StepBytesMax, bytes, What);
        while (true)
        {
            Partition.Enter(partition);
            ulong batch = core.Log.Batch;
            if (core.Log.TryAnnounce(batch, bytes))
            {
                partition->PinnedBatch = batch; // L5: what was announced for a batch goes there
                return;
            }
            Partition.Exit(partition);
            Thread.Yield(); // as for a lock: the batch is closed as soon as those that write to it are through (S6)
        }
    }

    public const string What = "a step of the append-only file (aof-step-max-size)";
}
