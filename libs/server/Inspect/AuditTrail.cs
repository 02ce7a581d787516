using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>
/// What happened that may have to be looked up afterwards: logins, refusals, changes of users and settings, commands of administrators. JSON lines, to a file of
/// their own or to the log.
///
/// inspect.A1  Nobody waits for the trail: an event goes into a bounded queue, a thread of its own writes. What the queue or the rate does not let in is counted, and
///     a line says how many are missing where they would have stood.
/// inspect.A2  The file is opened for each batch: it may be moved away at any time, and a disk that was full is found out to be so no more.
/// </summary>
internal sealed class AuditTrail(SecuritySettings settings, IClock clock, ServerLog log, Action<GarnetException> fail) : IDisposable
{
    /// <summary>Events that wait at most, a few MiB of them.</summary>
    internal const int QueueMax = 8192;

    /// <summary>What, instead of a file, names the log.</summary>
    internal const string ToLog = "log";

    private const int IdleMs = 1000, StopMs = 1000;

    private readonly Lock _gate = new();
    private readonly Signal _signal = new();
    private Queue<AuditEvent> _waiting = [];
    private Thread? _thread;
    private long _second, _thisSecond, _lostBefore; // events of this second; lost and not told of yet
    private long _written, _lost;
    private bool _hasFailed;
    private volatile bool _stops;

    /// <summary>False if nothing is kept.</summary>
    internal bool IsOn => settings.AuditFile.Length > 0;

    /// <summary>Events written since the start.</summary>
    internal long Written => Volatile.Read(ref _written);

    /// <summary>Events that were not, since there were too many at once, or the file could not be written.</summary>
    internal long Lost => Volatile.Read(ref _lost);

    /// <summary>Makes the file, if there is to be one: who asks for a trail and gets none must know it before the first event.</summary>
    /// <exception cref="GarnetException">It cannot be written.</exception>
    internal static void Expect(SecuritySettings settings)
    {
        if (settings.AuditFile.Length == 0 || settings.AuditFile == ToLog)
            return;
        try
        {
            Open(settings.AuditFile).Dispose();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            const string Next = "Name a file in a directory in which the user of this process may write, or log for the server's own log";
            string what = $"audit-file {settings.AuditFile}";
            throw new GarnetException(ExitKind.Configuration, what, $"it cannot be written: {e.Message}", Next);
        }
    }

    /// <summary>Takes an event; never waits. From any thread.</summary>
    internal void Add(AuditEvent audited)
    {
        lock (_gate)
        {
            if (!TryCount(audited.UnixMs / 1000) || _waiting.Count >= QueueMax)
            {
                _lostBefore++;
                _lost++;
                return;
            }

            _waiting.Enqueue(audited);
            _thread ??= BackgroundThread.Begin("audit", Run, fail);
        }

        _signal.Set();
    }

    /// <summary>Writes what waits, as far as a second suffices.</summary>
    public void Dispose()
    {
        _stops = true;
        _signal.Set();
        _thread?.Join(StopMs);
    }

    private bool TryCount(long second)
    {
        if (second != _second)
            (_second, _thisSecond) = (second, 0);
        return ++_thisSecond <= settings.AuditEventsPerSecond;
    }

    private void Run()
    {
        bool stops;
        do
        {
            _signal.Wait(IdleMs);
            stops = _stops;
            Queue<AuditEvent> batch = Take(out long lost);
            if (batch.Count > 0 || lost > 0)
                Write(batch, lost);
        }
        while (!stops);
    }

    private Queue<AuditEvent> Take(out long lost)
    {
        lock (_gate)
        {
            Queue<AuditEvent> batch = _waiting;
            _waiting = [];
            (lost, _lostBefore) = (_lostBefore, 0);
            return batch;
        }
    }

    private void Write(Queue<AuditEvent> batch, long lost)
    {
        var text = new StringBuilder();
        foreach (AuditEvent audited in batch)
            text.Append(AuditLine.Of(audited)).Append('\n');
        if (lost > 0)
            text.Append(AuditLine.OfLost(clock.UnixMs, lost)).Append('\n');
        if (TryWrite(text.ToString()))
            Interlocked.Add(ref _written, batch.Count);
        else
            Miss(batch.Count, lost);
    }

    private void Miss(int events, long lost)
    {
        lock (_gate)
        {
            _lost += events;
            _lostBefore += events + lost;
        }
    }

    private static FileStream Open(string path)
    {
        const FileShare Others = FileShare.ReadWrite | FileShare.Delete;
        // It names users and addresses.
        const UnixFileMode OwnerAndGroup = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        if (OperatingSystem.IsLinux() && Libc.FactsBehindLinks(path) is { IsPipe: true })
            throw new IOException("it is a pipe, which would be waited for");
        var options = new FileStreamOptions { Mode = FileMode.Append, Access = FileAccess.Write, Share = Others };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = OwnerAndGroup;
        return new FileStream(path, options);
    }

    private bool TryWrite(string lines)
    {
        if (settings.AuditFile == ToLog)
        {
            foreach (string line in lines.Split('\n', StringSplitOptions.RemoveEmptyEntries))
                log.Audited(line);
            return true;
        }

        try
        {
            using FileStream stream = Open(settings.AuditFile);
            stream.Write(Encoding.UTF8.GetBytes(lines));
            _hasFailed = false;
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (!_hasFailed)
                log.AuditFailed(settings.AuditFile, e.Message);
            _hasFailed = true;
            return false;
        }
    }
}
