using System.Globalization;

namespace Garnet.Common.Time;

/// <summary>
/// Figures of a long job (loading, replaying, checking, saving): whoever works adds what is done, anybody reads.
/// Thread-safe; every figure is one read, so that two of them may be of slightly different moments. A job that is of no use any more is
/// cancelled here too: every long one passes by.
/// </summary>
public sealed class JobProgress(string kind, IClock clock)
{
    private const int ToldFrom = 100; // the share that has to be done before an end is estimated

    private string _kind = kind;
    private long _total, _done, _startedUs = clock.MonotonicUs;
    private bool _isCancelled;

    /// <summary>What is being done, for people: "replaying the log".</summary>
    public string Kind => Volatile.Read(ref _kind);
    /// <summary>Bytes there are to do; 0 = not known.</summary>
    public long TotalBytes => Volatile.Read(ref _total);
    /// <summary>Bytes done.</summary>
    public long DoneBytes => Volatile.Read(ref _done);
    /// <summary>Milliseconds since the step began.</summary>
    public long ElapsedMs => (clock.MonotonicUs - Volatile.Read(ref _startedUs)) / 1000;
    /// <summary>Bytes per second since the step began.</summary>
    public long BytesPerSecond => ElapsedMs > 0 ? (long)((double)DoneBytes * 1000 / ElapsedMs) : 0;

    /// <summary>
    /// Estimated milliseconds until the step ends at the rate so far; -1 if that cannot be said, as before a hundredth is done: the first bytes wait for files to open and for
    /// code to be compiled, and tell nothing of the rest.
    /// </summary>
    public long LeftMs
    {
        get
        {
            long rate = BytesPerSecond, total = TotalBytes, done = DoneBytes;
            bool isTold = rate > 0 && done >= total / ToldFrom && done <= total;
            return isTold ? (long)((double)(total - done) * 1000 / rate) : -1;
        }
    }

    /// <summary>True once the job is to end.</summary>
    public bool IsCancelled => Volatile.Read(ref _isCancelled);

    /// <summary>Ends the job: its next <see cref="Begin"/> or <see cref="Add"/> throws <see cref="OperationCanceledException"/>.</summary>
    public void Cancel() => Volatile.Write(ref _isCancelled, true);

    /// <summary>Begins a step of the job: another kind, figures from zero.</summary>
    public void Begin(string kind, long totalBytes)
    {
        GoOn();
        Volatile.Write(ref _kind, kind);
        Volatile.Write(ref _total, totalBytes);
        Volatile.Write(ref _done, 0);
        Volatile.Write(ref _startedUs, clock.MonotonicUs);
    }

    /// <summary>Adds bytes that are done.</summary>
    public void Add(long bytes)
    {
        GoOn();
        Interlocked.Add(ref _done, bytes);
    }

    /// <summary>One line for people.</summary>
    public string Format()
    {
        long left = LeftMs;
        string share = TotalBytes > 0 ? string.Create(CultureInfo.InvariantCulture, $" of {Megabytes(TotalBytes)} MB") : "";
        string end = left >= 0 && TotalBytes > 0 ? string.Create(CultureInfo.InvariantCulture, $", about {(left + 999) / 1000} s left")
            : "";
        return string.Create(CultureInfo.InvariantCulture,
            $"{Kind}: {Megabytes(DoneBytes)}{share}{(share == "" ? " MB" : "")}, {Megabytes(BytesPerSecond)} MB/s{end}");
    }

    private void GoOn()
    {
        if (IsCancelled)
            throw new OperationCanceledException($"{Kind} was given up");
    }

    private static string Megabytes(long bytes) => (bytes / 1e6).ToString("F1", CultureInfo.InvariantCulture);
}
