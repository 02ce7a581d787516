using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Garnet.Server.Replication;

namespace Garnet.Server.Backups;

/// <summary>
/// Backups: all data of one moment in one file (<see cref="BackupFormat"/>), one at a time, on a thread of its own, asked for by BACKUP NOW or due by backup-every.
/// What lies on a tier is read there and stays there.
///
/// backups.K1  A backup has its name once all of it is on the disk, and has been read back from there and decoded record by record.
/// backups.K2  Whatever goes wrong with one, the server goes on: a line in its log and fields of INFO tell it, and what was begun is removed, at the next one at the latest.
/// backups.K3  Deleted are only files that have the name and the two ends of a backup, the oldest first, behind one that has just been verified, and that one never.
/// </summary>
internal sealed class BackupJob : IDisposable
{
    private const int TickMs = 1000;
    private const long RetryMs = 60_000;
    private const long SavedBytesLeast = 64 << 20, SavedParts = 4; // of the memory limit, beside which that is
    private const string GivenUp = "it was given up, as the server stops or gets other data";

    private readonly ServerCore _server;
    private readonly DataKeeper? _keeper;
    private readonly CopyRole _role;
    private readonly BackupSettings _settings;
    private readonly Lock _gate = new();
    private CancellationTokenSource _cancellation = new(); // of those that begin from now on
    private Timer? _timer;
    private Thread? _thread;
    private BackupRun? _run;
    private long _lastMs;
    private bool _isClosed, _isKeyTold, _isOwed; // owed: there was to be one, and it failed
    private bool _isLooking = true; // what is asked for until the directory was looked at follows that
    private bool _isWanted;

    internal BackupJob(ServerCore server, DataKeeper? keeper, CopyRole role)
    {
        (_server, _keeper, _role, _settings) = (server, keeper, role, server.Settings.Backups);
    }

    /// <summary>The backups in the directory when it was last looked at, the newest first: at the start, and behind each backup.</summary>
    internal IReadOnlyList<StoredBackup> Known { get; private set; } = [];

    /// <summary>The directory; empty: no backups are taken.</summary>
    internal string Path => _settings.Path;

    /// <summary>True while one is taken.</summary>
    internal bool IsRunning => Volatile.Read(ref _isLooking) ? Volatile.Read(ref _isWanted) : Volatile.Read(ref _thread) is not null;

    /// <summary>When the one that runs began, Unix milliseconds; 0 while none does.</summary>
    internal long BeganMs { get; private set; }

    /// <summary>What it is about.</summary>
    internal string Phase => !IsRunning ? "idle" : Volatile.Read(ref _run) is { IsVerifying: true } ? "verifying" : "writing";

    /// <summary>
    /// The moment of the last one that was verified, Unix milliseconds; 0 if there is none. One of a time to come does not count: a clock ran ahead, and whoever is
    /// alerted by the age of the last one would not be, until that time has come.
    /// </summary>
    internal long LastOkMs
    {
        get
        {
            long nowMs = _server.Clock.UnixMs;
            foreach (StoredBackup one in Known)
            {
                if (one.Header.CreatedMs <= nowMs)
                    return one.Header.CreatedMs;
            }

            return 0;
        }
    }

    /// <summary>Why the last one failed; empty if it did not.</summary>
    internal string LastError { get; private set; } = "";

    /// <summary>Backups taken since the start, and those that failed.</summary>
    internal long Taken { get; private set; }
    internal long Failed { get; private set; }

    /// <summary>Looks at the directory, and from now on whether one is due.</summary>
    internal void Begin()
    {
        if (Path.Length == 0)
            return; // a start without backups loads nothing of them
        _role.Interrupting += Interrupt;
        lock (_gate)
        {
            CancellationToken ended = _cancellation.Token;
            _thread = BackgroundThread.Begin("backups", () => LookFirst(ended), _server.Fail);
        }

        _timer = new Timer(static job => ((BackupJob)job!).StartIfDue(), this, TickMs, TickMs);
    }

    /// <summary>Starts one, if it may.</summary>
    internal BackupStart TryStart()
    {
        if (Path.Length == 0)
            return BackupStart.NoPath;
        lock (_gate)
        {
            if (IsRunning)
                return BackupStart.Running;
            if (_isClosed || !HasData)
                return BackupStart.NotNow;
            _lastMs = BeganMs = _server.Clock.UnixMs;
            _isWanted = true;
            if (_isLooking)
                return BackupStart.Started;
            CancellationToken ended = _cancellation.Token;
            _thread = BackgroundThread.Begin("backup", () => Run(ended), _server.Fail);
            return BackupStart.Started;
        }
    }

    /// <summary>Starts one if backup-every asks for it: so long after the last one, also if that was before the start.</summary>
    internal void StartIfDue()
    {
        if (_settings.EverySeconds == 0 || Volatile.Read(ref _isLooking) || IsRunning)
            return;
        long every = _settings.EverySeconds * 1000L, sinceMs = _server.Clock.UnixMs - _lastMs;
        bool isDue = sinceMs < 0 || sinceMs >= (_isOwed ? Math.Min(every, RetryMs) : every); // below 0: the clock was set back
        if (isDue)
            TryStart();
    }

    /// <summary>Blocks until the one that runs has ended; for tests and the end only.</summary>
    internal void Join() => Volatile.Read(ref _thread)?.Join();

    /// <summary>Ends the one that runs: the store is about to become another one.</summary>
    internal void Interrupt()
    {
        CancellationTokenSource ended;
        Thread? running;
        lock (_gate)
        {
            if (_isClosed)
                return;
            (ended, running) = (_cancellation, _thread);
            _cancellation = new CancellationTokenSource(); // in one step: who begins meanwhile must not have the one that is disposed of
            Cancel(ended);
        }

        running?.Join(); // not one that began since
        ended.Dispose();
    }

    /// <summary>Ends the one that runs; no other starts.</summary>
    internal void Stop()
    {
        lock (_gate)
        {
            _isClosed = true;
            Cancel(_cancellation);
        }

        _timer?.Dispose();
        Join();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        _cancellation.Dispose();
    }

    private void Cancel(CancellationTokenSource ended)
    {
        ended.Cancel();
        _run?.Cancel();
    }

    // All of them: not while they are loaded, or come in from a primary.
    private bool HasData => _keeper is not { Loading: true } && !_role.IsLoading;

    // backups.K2: what a process that was killed has left goes here.
    private void LookFirst(CancellationToken ended)
    {
        try
        {
            BackupShelf shelf = Open();
            shelf.Sweep();
            List<string> unopened = [];
            Known = shelf.Look(unopened);
            if (unopened.Count > 0)
                _server.Log.BackupsUnopened(Path, unopened);
            if (Known.Count > 0 && Known[0].Header.CreatedMs > _server.Clock.UnixMs)
                _server.Log.BackupIsToCome(Known[0].Name.ToString());
            Key(); // a file that has none is told of now, not a backup-every later
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
        {
            _server.Log.BackupFailed(BackgroundThread.WhyOf(e));
            LastError = BackgroundThread.WhyOf(e);
            _isOwed = true;
        }

        lock (_gate)
        {
            _lastMs = _isWanted ? _lastMs : Known.Count > 0 ? LastOkMs : _server.StartedUnixMs;
            _isLooking = false;
            if (!_isWanted)
                _thread = null;
        }

        if (_isWanted)
            Run(ended);
    }

    private BackupShelf Open()
    {
        if (!Directory.Exists(Path))
        {
            throw new GarnetException(ExitKind.Data, $"the directory for backups cannot be opened: {Path}", "no such directory",
                $"Mount the disk that it is on, or make it: mkdir -m 700 {Path}");
        }

        IDisk disk = new FileDisk(Path);
        return new BackupShelf(_settings.Before?.Invoke(disk) ?? disk);
    }

    private void Run(CancellationToken ended)
    {
        if (OperatingSystem.IsLinux())
            Libc.StepBack();
        string why = "";
        long before = Taken;
        try
        {
            Take(ended);
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e) || e is OperationCanceledException)
        {
            why = ended.IsCancellationRequested ? GivenUp : BackgroundThread.WhyOf(e);
            if (Taken == before)
                _server.Log.BackupFailed(why);
            else
                _server.Log.BackupsNotRemoved(why);
        }

        lock (_gate)
        {
            BeganMs = 0;
            LastError = why;
            _isOwed = Taken == before; // not if only older ones could not be removed: there would be one more each minute
            Failed += _isOwed ? 1 : 0;
            _run = null;
            _isWanted = false;
            _thread = null;
        }
    }

    private void Take(CancellationToken ended)
    {
        byte[]? key = Key();
        BackupShelf shelf = Open();
        long savedMax = Math.Max(SavedBytesLeast, _server.MemoryLimitBytes / SavedParts);
        var terms = new BackupTerms(_server.Clock.UnixMs, key, _server.Settings.Inspect.RedisVersion, savedMax);
        var run = new BackupRun(shelf, _role, terms, _server.Clock);
        lock (_gate)
            _run = run;
        StoredBackup made = run.Take(ended);
        lock (_gate)
        {
            Known = [made, .. Known];
            Taken++;
        }

        _server.Log.BackupTaken(made.Name.ToString(), made.Trailer.Keys, made.Bytes, _server.Clock.UnixMs - terms.CreatedMs);
        int removed = shelf.Thin(_settings.Keep, made.Name, out DiskException? stuck);
        if (removed > 0)
            _server.Log.BackupsRemoved(removed);
        Known = shelf.Look();
        if (stuck is not null)
            throw stuck;
    }

    private byte[]? Key()
    {
        byte[]? key = BackupKey.Read(_settings.KeyFile);
        if (key is not null && !_isKeyTold && BackupKey.IsOpen(_settings.KeyFile))
            _server.Log.BackupKeyIsOpen(_settings.KeyFile);
        _isKeyTold = true;
        return key;
    }
}
