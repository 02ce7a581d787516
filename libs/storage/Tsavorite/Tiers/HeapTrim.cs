using Garnet.Common.Linux;
using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Has the C library give back what fetched records took, once little of that has been freed for a moment: it keeps what is freed between blocks that are in use, and a walk over a large
/// cold collection, or a copy that was refused, would leave hundreds of megabytes in the process for good.
/// </summary>
/// <param name="trim">Does it.</param>
internal sealed class HeapTrim(Action trim)
{
    /// <summary>Less than this is not worth it.</summary>
    public const long BytesMin = 32 << 20;
    private const int StillMs = 1000;
    private const long StillBytes = BytesMin / 8; // less than that in a second is still: a server in use always reads something
    private long _freed; // by all sessions since the start
    private long _before, _trimmedAt, _sinceMs;

    public HeapTrim() : this(OperatingSystem.IsLinux() ? Libc.TrimHeap : static () => { })
    {
    }

    /// <summary>So many bytes were freed. From any thread.</summary>
    public void Freed(long bytes) => Interlocked.Add(ref _freed, bytes);

    /// <summary>A look now and then, by one thread.</summary>
    public void Look(long nowMs)
    {
        if (Elapsed.IsWithin(nowMs, _sinceMs, StillMs))
            return;
        long freed = Volatile.Read(ref _freed);
        bool isStill = freed - _before < StillBytes;
        (_before, _sinceMs) = (freed, nowMs);
        if (!isStill || freed - _trimmedAt < BytesMin)
            return;
        _trimmedAt = freed;
        trim();
    }

    /// <summary>At once, if anything was freed since: memory is short. It takes milliseconds, and a command that gathers asks at each piece. From any thread.</summary>
    public void Trim()
    {
        long freed = Volatile.Read(ref _freed);
        if (Interlocked.Exchange(ref _trimmedAt, freed) != freed)
            trim();
    }
}
