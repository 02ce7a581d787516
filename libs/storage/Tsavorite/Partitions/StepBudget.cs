using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// What the step of a session may still write to the log. All changes of a step are in one batch, and a batch is read back whole.
/// U22: a change is made only after the log has promised to take its entry: a step longer than the log allows is refused at the change that
/// would make it so, before it is made.
/// </summary>
internal sealed unsafe class StepBudget(StoreCore core)
{
    private ulong _batch;
    private long _stepBytes, _announcedBytes, _aloneBytes;

    /// <summary>The step ends, its locks still held: what it did not write after all is others' again.</summary>
    public void EndStep()
    {
        if (_batch != 0 && _announcedBytes > _stepBytes) core.Log?.TryAnnounce(_batch, _stepBytes - _announcedBytes);
        _stepBytes = _announcedBytes = 0;
        _batch = 0;
    }

    /// <summary>A change in a step that holds its locks is about to write so many bytes. Short steps are not announced.</summary>
    public void Take(Partition* partition, long bytes)
    {
        if (_stepBytes + bytes > Math.Max(_announcedBytes, IWriteLog.UnannouncedBytesMax)) Ask(partition, bytes);
        _stepBytes += bytes;
    }

    /// <summary>Announces what the step will write besides what it has; and as much again, so that a long step does so seldom.</summary>
    public void Ask(Partition* partition, long bytes)
    {
        IWriteLog log = core.Log!;
        long wanted = _stepBytes + bytes;
        TooLargeException.Above(log.StepBytesMax, wanted, What);
        ulong batch = core.BatchOf(partition);
        if (batch != _batch && _batch != 0) _announcedBytes = _stepBytes; // the step has ended a batch itself
        _batch = batch;
        if (wanted <= _announcedBytes) return;
        long most = Math.Min(2 * wanted, log.StepBytesMax);
        if (!log.TryAnnounce(batch, most - _announcedBytes))
        {
            // Other long steps run beside this one. It holds locks, so that nothing can be waited for.
            most = wanted;
            if (!log.TryAnnounce(batch, most - _announcedBytes)) throw new TooLargeException(Crowded, wanted, log.StepBytesMax);
        }
        _announcedBytes = most;
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
                _aloneBytes = bytes;
                return;
            }
            Partition.Exit(partition);
            Thread.Yield(); // as for a lock: the batch is closed as soon as those that write to it are through (S6)
        }
    }

    /// <summary>
    /// A change of <see cref="EnterAlone"/> is through, its lock still held. A batch in which nothing is written is not closed: what was announced
    /// for it and not written would be in others' way for ever.
    /// </summary>
    public void LeaveAlone(Partition* partition, bool wrote)
    {
        if (!wrote) core.Log?.TryAnnounce(partition->PinnedBatch, -_aloneBytes);
        partition->PinnedBatch = 0;
    }

    private const string Crowded = "a step of the append-only file together with others that run at the same time (try again)";

    public const string What = "a step of the append-only file (aof-step-max-size)";
}
