using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>
/// The append-only file of a server that has a data directory, whichever log is in force: how far it is, who waits for it, and why it does not
/// keep what it should.
///
/// persistence.D2  Writes are refused (MISCONF) from the moment the log cannot keep them; reads go on.
/// persistence.D3  The log is cut only behind a snapshot that is durable and named by the manifest.
/// </summary>
internal sealed class KeptLog : IDisposable
{
    private readonly PersistenceSettings _settings;
    private readonly DataDirectory _directory;
    private readonly IClock _clock;
    private readonly Backlog _backlog;
    private readonly AofSettings _aofSettings;
    private readonly AdvanceBell _advanced = new();
    private readonly LedLogs _logs;
    private ulong _toldKept, _toldDurable;
    private volatile string? _toldTrouble;
    private ServerCore? _server;
    private volatile bool _ended;

    internal KeptLog(PersistenceSettings settings, DataDirectory directory, IClock clock, Backlog backlog)
    {
        (_settings, _directory, _clock, _backlog) = (settings, directory, clock, backlog);
        _logs = new LedLogs(KeptBy);
        _aofSettings = new AofSettings
        {
            Sublogs = directory.Manifest.Sublogs, Sync = PolicyOf(settings.AppendSync), StagingBytesMax = settings.StagingBytesMax,
            SegmentBytes = settings.SegmentBytes, StepBytesMax = settings.StepBytesMax,
        };
    }

    /// <summary>Number of the open batch.</summary>
    internal ulong OpenBatch => Current?.Batch ?? 1;

    /// <summary>The log's figures; null before it is open.</summary>
    internal AofFigures? Figures => Current?.Figures();

    /// <summary>What an acknowledged change outlives: the process alone (os), or the machine too, and by what.</summary>
    internal string Guarantee =>
        _aofSettings.Sync == SyncPolicy.Always ? PersistenceDomains.NameOf(Figures?.Domain ?? PersistenceDomain.Disk) : "os";

    /// <summary>Why the log cannot keep changes any more; null while it can.</summary>
    internal string? Poison => Current?.Poison;

    /// <summary>Why the log does not keep changes now; null while it does.</summary>
    internal string? Trouble => Current?.Poison ?? Current?.Stalled;

    /// <summary>Raised when the log begins not to keep changes, perhaps more than once; from any thread.</summary>
    internal event Action? Troubled;

    /// <summary>True while the log, or a snapshot, has no memory for more changes.</summary>
    internal bool IsFull => Current is { IsFull: true } || _server!.Store.SnapshotBehind;

    /// <summary>True if some commands may be refused now (persistence.D2).</summary>
    internal bool Blocks => IsFull || (Current is { } log && (log.Poison is not null || log.Stalled is not null));

    /// <summary>Replies may acknowledge changes up to this batch: synced under <c>always</c>, else given to the system.</summary>
    internal ulong Kept => _logs.Kept;

    /// <summary>Every change up to this batch is durable under the policy in force.</summary>
    internal ulong Durable => Current?.Durable ?? ulong.MaxValue;

    /// <summary>The term in which the log in force is led; 0 while it follows.</summary>
    internal uint Term => _logs.Term;

    /// <summary>True if replies may acknowledge what is in the batch (net.R7).</summary>
    internal bool Keeps(LogMark mark) => _logs.Keeps(mark);

    /// <summary>True if the batch will never be kept.</summary>
    internal bool HasLost(LogMark mark) => _logs.HasLost(mark);

    /// <summary>True if the batch is durable under the policy in force.</summary>
    internal bool IsDurable(LogMark mark) => _logs.IsDurable(mark);

    /// <summary>A client waits until its change is durable.</summary>
    internal void RequireSync(LogMark mark) => _logs.RequireSync(mark);

    /// <summary>The server is there: who waits is one of its clients.</summary>
    internal void Begin(ServerCore server)
    {
        _server = server;
        server.Table.OnSet(["appendfsync", "aof-step-max-size"], TakeSettings);
    }

    /// <summary>
    /// A log over the files, in as many sublogs; not started. <paramref name="lost"/>: why the one that they hold was lost, if it was; then
    /// nothing is written behind its end, where there would be a hole, and nobody can write.
    /// </summary>
    internal AppendOnlyLog New(int sublogs, string? lost)
    {
        _aofSettings.Sublogs = sublogs;
        return lost is null
            ? new AppendOnlyLog(_aofSettings, _directory.Disk, _clock, _backlog) { Names = _directory.NameLogs }
            : new AppendOnlyLog(_aofSettings, new NullDisk(), _clock, _backlog) { Lost = lost };
    }

    /// <summary>The log in force is this one from now on; the one before has ended.</summary>
    internal void Take(AppendOnlyLog log, uint ledTerm)
    {
        log.Advanced += OnAdvanced;
        _logs.Take(log, ledTerm);
        _toldKept = ulong.MaxValue; // of another history
        OnAdvanced();
    }

    /// <summary>Blocks until the batch is durable; false if it never will be. For background threads and the end only.</summary>
    internal bool WaitDurable(ulong batch)
    {
        if (Current is not { } log)
            return true;
        log.RequireSync(batch);
        _advanced.Await(() => log.Durable >= batch || log.Poison is not null || _ended || log != Current);
        return log.Durable >= batch;
    }

    /// <summary>Deletes files that only hold batches below <paramref name="before"/> (persistence.D3), and that no replica is still to get.</summary>
    internal void Truncate(ulong before, ulong needed)
    {
        if (Current is not { } log)
            return;
        // A replica that is slower than that is not waited for.
        bool waits = log.Figures().SegmentBytes < _server!.Settings.Replication.RetentionBytes;
        log.Truncate(waits ? Math.Min(before, needed) : before);
    }

    /// <summary>What the store removed by itself (expiry, eviction) while no command came is looked for.</summary>
    internal void Nudge() => Current?.Nudge();

    /// <summary>The last batch is closed, written and synced. The manifest says where: a log that is found shorter at the next start has lost its end.</summary>
    internal void Close()
    {
        if (Current is not { } log)
            return;
        log.Stop();
        try
        {
            if (log.Poison is null)
                _directory.NameEnd(log.Durable);
        }
        catch (DiskException)
        {
            // the stop goes on: only this one proof that the log is complete is missing
        }
    }

    /// <summary>Nobody waits any more.</summary>
    internal void End()
    {
        _ended = true;
        _advanced.Ring();
    }

    /// <inheritdoc/>
    public void Dispose() => Current?.Dispose();

    private AppendOnlyLog? Current => _logs.Current;

    private ulong KeptBy(AppendOnlyLog log) => _aofSettings.Sync == SyncPolicy.Always ? log.Durable : log.Written;

    private static SyncPolicy PolicyOf(AppendSync sync) => sync switch
    {
        AppendSync.Always => SyncPolicy.Always,
        AppendSync.No => SyncPolicy.No,
        _ => SyncPolicy.EverySecond,
    };

    // What of the log's settings may change while it runs.
    private void TakeSettings()
    {
        _aofSettings.Sync = PolicyOf(_settings.AppendSync);
        _aofSettings.StepBytesMax = _settings.StepBytesMax;
    }

    private void OnAdvanced()
    {
        _advanced.Ring();
        if (_server is not { } server || !HasNews())
            return;
        if (Trouble is not null)
            Troubled?.Invoke();
        server.Workers.NudgeWaiting();
    }

    // Of what was kept, made durable or went wrong since the last look; under always, what is only written releases no reply. Two threads that
    // look at once may both find the news; that both miss them cannot be.
    private bool HasNews()
    {
        (ulong Kept, ulong Durable, string? Trouble) now = (Kept, Durable, Trouble);
        (ulong Kept, ulong Durable, string? Trouble) told = (Volatile.Read(ref _toldKept), Volatile.Read(ref _toldDurable), _toldTrouble);
        Volatile.Write(ref _toldKept, now.Kept);
        Volatile.Write(ref _toldDurable, now.Durable);
        _toldTrouble = now.Trouble;
        return now != told;
    }
}
