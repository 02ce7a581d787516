using Garnet.Common.Linux;

namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Keeps the calling thread, and those that it starts meanwhile, on the core where it is. Of threads that take turns only one is ever
/// awake: to wake the next one on another core takes several times as long, and on a busy machine a hundred times.
/// </summary>
internal sealed unsafe class OneCore : IDisposable
{
    private const int Words = 16, Bits = 64; // 1,024 cores, as many as the C library knows by default
    private readonly ulong[] _before = new ulong[Words];
    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly bool _isKept;

    public OneCore()
    {
        int core = Libc.sched_getcpu();
        ulong* mask = stackalloc ulong[Words];
        new Span<ulong>(mask, Words).Clear();
        fixed (ulong* before = _before)
            _isKept = core is >= 0 and < Words * Bits && Libc.sched_getaffinity(0, Words * sizeof(ulong), before) >= 0;
        if (!_isKept)
            return;
        mask[core / Bits] = 1UL << (core % Bits);
        _isKept = Libc.sched_setaffinity(0, Words * sizeof(ulong), mask) >= 0;
    }

    /// <summary>The thread, which must be the same, may be on any core again that it might be on before.</summary>
    public void Dispose()
    {
        if (!_isKept || _thread != Environment.CurrentManagedThreadId)
            return;
        fixed (ulong* before = _before)
            _ = Libc.sched_setaffinity(0, Words * sizeof(ulong), before);
    }
}
