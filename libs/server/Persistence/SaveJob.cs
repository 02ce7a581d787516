using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>
/// Snapshots of the whole store: one at a time, on a thread of its own, asked for by BGSAVE, SAVE, BGREWRITEAOF and SHUTDOWN
/// SAVE, or due by the save points or the growth of the log. In what order, <see cref="SnapshotTaker"/> knows.
/// </summary>
internal sealed class SaveJob(
    KeptLog log, ChangeCounter? counter, ServerCore server, ILogRole role, DataDirectory directory,
    PersistenceSettings settings) : IDisposable
{
    /// <summary>Half a second of replay on two cores, and about as long to write (benchmark/RESULTS.md, recover).</summary>
    private const long WorthwhileLogBytes = 64 << 20, CheapStoreBytes = 256 << 20;

    /// <summary>
    /// What waits on the tier is free after two snapshots. Not at once, since what is written meanwhile makes more; but after half as long as the last one took, so that
    /// a third of the time is without: until then records have no room to go to.
    /// </summary>
    private const long TierPauseMinMs = 500, TierPauseMaxMs = 2000;

    private readonly Lock _gate = new();
    private CancellationTokenSource _cancellation = new();
    private Thread? _thread;
    private long _number;
    private long _ended;
    private bool _lastFailed;
    private long _changesAtSave;
    private long _bytesAtSave;
    private long _failedAtMs;

    /// <summary>When the last snapshot was published, Unix milliseconds; the start of the server if none was.</summary>
    internal long LastSaveMs { get; private set; } = server.StartedUnixMs;

    /// <summary>When the running snapshot began, Unix milliseconds; 0 while none runs.</summary>
    internal long BeganMs { get; private set; }

    /// <summary>How long the last snapshot took, ms; -1 if there was none.</summary>
    internal long LastMs { get; private set; } = -1;

    /// <summary>How long the cut of the last snapshot stopped writers, microseconds; 0 if there was none.</summary>
    internal long LastCutUs { get; private set; }

    /// <summary>Snapshots published since the start.</summary>
    internal long Published { get; private set; }

    /// <summary>True if the last snapshot failed.</summary>
    internal bool LastFailed => _lastFailed;

    /// <summary>How far the running snapshot has come; null while none runs.</summary>
    internal SnapshotProgress? Progress { get; private set; }

    /// <summary>True while a snapshot is being taken.</summary>
    internal bool IsRunning => Volatile.Read(ref _thread) is not null;

    /// <summary>Changes since the last snapshot.</summary>
    internal long Changes => Total() - _changesAtSave;

    /// <summary>Starts a snapshot; 0 if one is running already, else its number.</summary>
    internal long TryStart()
    {
        lock (_gate)
        {
            if (_thread is not null || _cancellation.IsCancellationRequested)
                return 0;
            BeganMs = server.Clock.UnixMs;
            Progress = new SnapshotProgress();
            _thread = BackgroundThread.Begin("snapshot", Run, server.Fail);
            return ++_number;
        }
    }

    /// <summary>Starts a snapshot if the save points or the size of the log ask for one.</summary>
    internal void StartIfDue()
    {
        if (IsRunning || (_lastFailed && server.Clock.UnixMs - _failedAtMs < 5000))
            return;
        long changes = Changes, sinceMs = server.Clock.UnixMs - LastSaveMs, seconds = sinceMs / 1000;
        foreach (SaveRule rule in settings.Save.Rules)
        {
            if (changes < Math.Max(rule.Changes, 1) || seconds < rule.Seconds)
                continue;
            server.Log.SaveDue(changes, seconds);
            TryStart();
            return;
        }

        if (sinceMs >= Math.Clamp(LastMs / 2, TierPauseMinMs, TierPauseMaxMs) && server.Store.Names is { WantsSnapshot: true } names)
        {
            server.Log.TierWaits(names.WaitingBytes);
            TryStart();
            return;
        }

        if (server.Store.Names is { } named && named.FindsGone())
        {
            server.Log.TierGone(named.WhyBroken);
            TryStart();
            return;
        }

        long grown = LogBytes() - _bytesAtSave;
        if (settings.RewritePercentage == 0 || grown < settings.RewriteBytesMin
            || grown < settings.RewritePercentage / 100.0 * SnapshotBytes)
            return;
        server.Log.LogGrown(grown);
        TryStart();
    }

    /// <summary>Takes a snapshot before this returns; false if that failed. For the start, where nobody else takes one.</summary>
    internal bool TryTakeNow()
    {
        if (TryStart() == 0)
            return false;
        Volatile.Read(ref _thread)?.Join();
        return !_lastFailed;
    }

    /// <summary>
    /// The snapshot of an orderly stop, taken before this returns. Without a log, save points ask for it whatever it costs; with one, it
    /// is only to spare the next start a long replay, and taken where that is worth more than it costs; or because snapshots name what
    /// lies on a tier that is no longer there, which this process alone can still read.
    /// </summary>
    internal void TakeLast()
    {
        if (IsDueAtStop)
            Volatile.Read(ref _thread)?.Join(); // the one that runs may be all that was due, or lack what came since
        if (!IsDueAtStop || TryStart() == 0)
            return;
        if (IsTierLost)
            server.Log.TierLostAtStop(server.Store.Names!.WhyBroken);
        else
            server.Log.SavesBeforeStop();
        Volatile.Read(ref _thread)?.Join();
    }

    private bool IsDueAtStop => !role.IsReplica && (IsTierLost || (settings.AppendOnly // a replica's data come from its primary
        ? LogBytes() - _bytesAtSave >= WorthwhileLogBytes && server.Store.Figures().UsedBytes <= CheapStoreBytes
        : settings.Save.Rules.Count > 0 && Changes > 0));

    /// <summary>True if snapshots name what lies on a tier that no start would find: a stop without a snapshot, or behind one that failed, gives that up.</summary>
    internal bool IsTierLost => !role.IsReplica && server.Store.Names is { } names && names.LacksFile();

    /// <summary>Bytes of the last snapshot, 0 if there was none since the start.</summary>
    internal long SnapshotBytes { get; private set; }

    /// <summary>True if the snapshot with the number has ended, with how it went.</summary>
    internal bool HasEnded(long number, out bool failed)
    {
        lock (_gate)
        {
            failed = _lastFailed;
            return _ended >= number;
        }
    }

    /// <summary>True if the snapshot that runs is to end without being published.</summary>
    internal bool IsCancelled => _cancellation.IsCancellationRequested;

    /// <summary>Ends a running snapshot without publishing it; no other starts.</summary>
    internal void Cancel()
    {
        _cancellation.Cancel();
        Volatile.Read(ref _thread)?.Join();
    }

    /// <summary>Ends a running snapshot without publishing it: the store is about to become another one.</summary>
    internal void Interrupt()
    {
        Cancel();
        lock (_gate)
        {
            _cancellation.Dispose();
            _cancellation = new CancellationTokenSource();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Cancel();
        _cancellation.Dispose();
    }

    private void Speak()
    {
        if (Progress is { } progress)
            server.Log.Progress(progress.Format());
    }

    private long Total() => (counter?.Changes ?? 0) + role.EntriesLogged;

    private long LogBytes() => log.Figures?.BytesWritten ?? 0;

    private void Run()
    {
        if (OperatingSystem.IsLinux())
            Libc.StepBack();
        bool failed = true;
        long changes = Total(), bytes = LogBytes();
        try
        {
            failed = !Take();
        }
        catch (GarnetException) when (_cancellation.IsCancellationRequested)
        {
            server.Log.SaveGivenUp();
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
        {
            server.Log.SaveFailed(BackgroundThread.WhyOf(e));
        }

        lock (_gate)
        {
            LastMs = server.Clock.UnixMs - BeganMs;
            BeganMs = 0;
            Progress = null;
            _lastFailed = failed;
            _failedAtMs = server.Clock.UnixMs;
            if (!failed)
                (_changesAtSave, _bytesAtSave) = (changes, bytes);
            _ended = _number;
            _thread = null;
        }
    }

    private bool Take()
    {
        using var speaker = new Timer(_ => Speak(), null, 1000, 1000);
        var taker = new SnapshotTaker(server.Store, directory, server.Clock)
        {
            AwaitDurable = log.WaitDurable, Terms = () => role.TermStarts,
            Truncate = before => log.Truncate(before, role.NeededFrom),
        };
        SnapshotResult saved = taker.Take(Options(), Progress!, _cancellation.Token, out bool published);
        LastCutUs = saved.Figures.CutUs;
        if (saved.State == SnapshotState.OutOfRoom)
            server.Log.SaveFailed("writers changed more than the snapshot may keep in memory; take it when there is less load");
        else if (saved.State != SnapshotState.Whole)
            server.Log.SaveGivenUp();
        if (saved.State != SnapshotState.Whole)
            return false;
        if (!published)
        {
            server.Log.SaveFailed("the append-only file failed");
            return false;
        }

        LastSaveMs = server.Clock.UnixMs;
        SnapshotBytes = saved.Facts.FileBytes;
        Published++;
        server.Log.Saved((long)saved.Facts.Records, saved.Facts.FileBytes, server.Clock.UnixMs - BeganMs);
        return true;
    }

    private SnapshotJobOptions Options() => new()
    {
        Term = role.IsReplica ? role.AppliedTerm : directory.Manifest.Term,
        Cut = memory => role.Cut(memory, _cancellation.Token)
            ?? throw new GarnetException(ExitKind.Data, "no snapshot can be taken",
                "the server stops, or gets all its data from its primary", "Take it later."),
    };
}
