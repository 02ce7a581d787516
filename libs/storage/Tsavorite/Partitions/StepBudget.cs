using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// What the step of a session may still write to the log. All changes of a step are in one batch, and a batch is read back whole.
/// A change is made only after the log has promised to take its entry (store.U22): a step longer than the log allows is refused before the first change
/// of the command that would make it so, never in the middle of one. A command of several changes therefore announces all of them first; by how
/// much its estimate was short is forced, up to what the log keeps for that. What was promised for a change that wrote nothing is given back: a batch without entries is never
/// closed, and would keep the promise for ever.
/// </summary>
internal sealed unsafe class StepBudget(StoreCore core, Writer writer)
{
    private ulong _batch;
    private long _stepBytes, _announcedBytes;
    private long _changeBytes, _entriesBefore, _loggedBefore; // of the last change: what it may write, and the writer's counts before it
    private long _entriesAtBegin;

    private bool InMiddle => writer.Entries != _entriesAtBegin;

    /// <summary>A command begins: a step of its own, or a part of one.</summary>
    public void Begin() => _entriesAtBegin = writer.Entries;

    /// <summary>The step ends, its locks still held: what it did not write after all is others' again.</summary>
    public void EndStep()
    {
        SettleChange();
        if (_batch != 0 && _announcedBytes > _stepBytes)
            core.Log?.TryAnnounce(_batch, _stepBytes - _announcedBytes);
        _stepBytes = _announcedBytes = 0;
        _batch = 0;
    }

    /// <summary>A change in a step that holds its locks is about to write so many bytes. Short steps are not announced.</summary>
    public void Take(Partition* partition, long bytes)
    {
        SettleChange();
        if (_stepBytes + bytes > Math.Max(_announcedBytes, IWriteLog.UnannouncedBytesMax))
            Ask(partition, bytes);
        _stepBytes += bytes;
        BeginChange(bytes);
    }

    /// <summary>Announces what the step will write besides what it has; and as much again, so that a long step does so seldom.</summary>
    public void Ask(Partition* partition, long bytes)
    {
        SettleChange();
        IWriteLog log = core.Log!;
        long wanted = _stepBytes + bytes;
        if (!InMiddle)
            TooLargeException.Above(log.StepBytesMax, wanted, What);
        ulong batch = core.BatchOf(partition);
        if (batch != _batch && _batch != 0)
            _announcedBytes = _stepBytes; // the step has ended a batch itself
        _batch = batch;
        if (wanted <= _announcedBytes)
            return;
        long most = Math.Max(wanted, Math.Min(2 * wanted, log.StepBytesMax));
        if (!log.TryAnnounce(batch, most - _announcedBytes))
            most = AskForNoMore(log, wanted);
        _announcedBytes = most;
    }

    // Other long steps run beside this one. It holds locks, so that nothing can be waited for.
    private long AskForNoMore(IWriteLog log, long wanted)
    {
        bool isTaken = log.TryAnnounce(_batch, wanted - _announcedBytes, force: InMiddle);
        Check.That(isTaken || !InMiddle, "store.U22 a command keeps to what it has announced");
        return isTaken ? wanted : throw new TooLargeException(Crowded);
    }

    /// <summary>
    /// Takes the lock for a change that is a step by itself, and announces it; waits, without the lock, until a batch has room.
    /// False if there is no log in force, so that nothing was announced: whoever asked may have seen one before it had the lock.
    /// </summary>
    /// <exception cref="TooLargeException">It is longer than a step may be, or there will be no more room, as the log is over.</exception>
    public bool EnterAlone(Partition* partition, long bytes)
    {
        while (true)
        {
            Partition.Enter(partition);
            IWriteLog? log = core.LogInForce; // under the lock: another one may have come into force
            ulong batch = log?.Batch ?? 0;
            if (log is null)
                return false;
            if (bytes <= log.StepBytesMax && log.TryAnnounce(batch, bytes))
            {
                partition->PinnedBatch = batch; // log.L5: what was announced for a batch goes there
                BeginChange(bytes);
                return true;
            }
            Partition.Exit(partition);
            TooLargeException.Above(log.StepBytesMax, bytes, What);
            if (log.IsOver)
                throw new TooLargeException(Over);
            Thread.Yield(); // as for a lock: the batch is closed as soon as those that write to it are through (log.S6)
        }
    }

    /// <summary>A change of <see cref="EnterAlone"/> is through, its lock still held.</summary>
    public void LeaveAlone(Partition* partition)
    {
        if (writer.Entries == _entriesBefore)
            core.Log?.TryAnnounce(partition->PinnedBatch, -_changeBytes);
        _changeBytes = 0;
        partition->PinnedBatch = 0;
    }

    private void BeginChange(long bytes)
    {
        _changeBytes = bytes;
        _entriesBefore = writer.Entries;
        _loggedBefore = writer.LoggedBytes;
    }

    // What counts of a change that has been made is what it wrote: it may have written nothing, and most write no deletion before it.
    private void SettleChange()
    {
        _stepBytes -= Math.Max(0, _changeBytes - (writer.LoggedBytes - _loggedBefore));
        _changeBytes = 0;
    }

    private const string Crowded =
        "the append-only file has no room for so long a step beside the others that run at this moment; nothing was changed: try again";

    private const string Over = "the append-only file has ended or failed, and has no room for so long a step; nothing was changed";

    public const string What = "a step of the append-only file (aof-step-max-size)";
}
