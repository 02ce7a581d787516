using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// One reservation of address space for all records and all index memory, cut into four regions: index segments,
/// overflow nodes, record segments, extents. Reserved space costs nothing until it is touched. It is given back to
/// the system page by page, but never unmapped before the store is closed: a reader that comes late may read
/// garbage, yet never faults (store.U3), and index memory never becomes record memory (store.U15).
/// Keeps the exact account of memory taken; <see cref="Take"/> and <see cref="Give"/> are the only ways to change it.
/// </summary>
internal sealed unsafe class Arena : IDisposable
{
    public const int PageBytes = 4096;
    private const long HugePageBytes = 2 << 20, GuardBytes = 4 << 20;
    /// <summary>36 address bits in 8-byte units.</summary>
    private const long ReserveMax = 512L << 30;
    private const long AssuredBytes = 64 << 20; // a value or two of a common size, on a small machine too

    private const long LimitMax = long.MaxValue / 4; // what is added to it stays a long

    private const int PromisedPart = 8, PromisedMore = 4;

    private readonly void* _mapping;
    private readonly long _mappingBytes;
    private readonly List<Mapped> _tables = [];
    private readonly AutoResetEvent _wake;
    private int _gate;
    private readonly AutoResetEvent? _wakeLow;
    private long _used, _promised, _peak, _limit, _fixed, _tightMark, _lowMark;
    private bool _tight, _isLifted;

    public readonly byte* Base;
    public readonly long IndexStart, SlabStart, SegmentsStart, ExtentsStart, End;
    public readonly bool HugePages;

    public Arena(StoreSettings settings, AutoResetEvent wake, AutoResetEvent? wakeLow = null)
    {
        _wake = wake;
        _wakeLow = wakeLow;
        long limit = Math.Max(settings.MemoryLimitBytes, 1 << 20);
        long wanted = settings.ReserveBytes != 0 ? settings.ReserveBytes : Math.Max(4 * limit, limit + (8L << 30));
        long bytes = Math.Clamp(wanted / HugePageBytes * HugePageBytes, 64 << 20, ReserveMax);
        _mapping = Reserve(ref bytes, limit);
        _mappingBytes = bytes;
        Base = (byte*)((nuint)_mapping + (nuint)HugePageBytes - 1 & ~((nuint)HugePageBytes - 1));
        long usable = bytes - HugePageBytes - GuardBytes;
        IndexStart = HugePageBytes;
        SlabStart = Align(IndexStart + usable / 8);
        SegmentsStart = Align(SlabStart + usable / 32);
        ExtentsStart = Align(SegmentsStart + (usable - SegmentsStart) / 2);
        End = usable / HugePageBytes * HugePageBytes;
        HugePages = settings.HugePages && Advise(IndexStart, SlabStart - IndexStart, Libc.MADV_HUGEPAGE)
            && Advise(SegmentsStart, ExtentsStart - SegmentsStart, Libc.MADV_HUGEPAGE) && SystemGrantsHugePages();
        Advise(SlabStart, SegmentsStart - SlabStart, Libc.MADV_NOHUGEPAGE);
        Advise(ExtentsStart, End - ExtentsStart, Libc.MADV_NOHUGEPAGE);
        SetLimit(settings.MemoryLimitBytes);
    }

    /// <summary>For those who found no room.</summary>
    public RoomBell Bell { get; } = new();

    public long Used => Volatile.Read(ref _used);
    /// <summary>Bytes that are set aside for steps.</summary>
    public long Promised => Volatile.Read(ref _promised);
    public long Peak => Volatile.Read(ref _peak);
    public long Limit => Volatile.Read(ref _limit);
    public long Fixed => _fixed;

    /// <summary>Above it records are to leave for a tier.</summary>
    public long LowMark => Volatile.Read(ref _lowMark);

    /// <summary>True when little of the limit is left: less than a sixteenth; with a tier less than 4 MiB or a 64th.</summary>
    public bool Tight
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _tight;
    }

    /// <summary>
    /// Bytes that may be taken in all. The part of the fixed memory that exceeds a sixteenth of the limit is not
    /// charged: a limit below that irreducible base would otherwise leave no room for any record.
    /// </summary>
    public long Ceiling => Limit + Math.Max(0, _fixed - Limit / 16);

    /// <summary>What is taken when the store is empty.</summary>
    public void FixBase()
    {
        _fixed = _used;
        SetLimit(_limit);
    }

    public void SetLimit(long bytes)
    {
        SpinLatch.Enter(ref _gate);
        // A limit that is lifted still says what a tier is to keep free: nothing is refused, and records leave.
        _isLifted = bytes <= 0 && _wakeLow is not null && _limit > 0;
        _limit = bytes > 0 ? Math.Min(bytes, LimitMax) : _isLifted ? _limit : End;
        long ceiling = Ceiling;
        _tightMark = ceiling - TightBytes(ceiling);
        _lowMark = ceiling - (ceiling / TierMovers.LowPart);
        _tight = _used >= _tightMark;
        SpinLatch.Exit(ref _gate);
        _wake.Set();
        _wakeLow?.Set();
        Bell.Ring();
    }

    /// <summary>
    /// Notes memory taken; false if that would pass the ceiling by more than the claim allows.
    /// </summary>
    public bool Take(long bytes, Claim claim)
    {
        bool wake = false, wakeLow = false;
        SpinLatch.Enter(ref _gate);
        long ceiling = Ceiling;
        bool taken = IsWithin(bytes, claim, ceiling);
        if (taken)
        {
            _used += bytes;
            if (_used > _peak)
                _peak = _used;
            wake = !_tight && _used >= _tightMark;
            wakeLow = _wakeLow is not null && _used >= _lowMark && _used - bytes < _lowMark;
            _tight = _used >= _tightMark;
        }
        SpinLatch.Exit(ref _gate);
        if (wake)
            _wake.Set();
        if (wakeLow)
            _wakeLow!.Set();
        return taken;
    }

    /// <summary>True if so much could be taken by that claim as things are.</summary>
    public bool MayTake(long bytes, Claim claim)
    {
        SpinLatch.Enter(ref _gate);
        bool may = IsWithin(bytes, claim, Ceiling);
        SpinLatch.Exit(ref _gate);
        return may;
    }

    private bool IsWithin(long bytes, Claim claim, long ceiling) =>
        claim == Claim.Forced || _isLifted || _used + bytes <= ceiling + Beyond(claim, bytes, ceiling);

    /// <summary>
    /// store.U20 Sets memory aside for a step, beside what is in use, until <see cref="EndPromise"/>; what the step takes meanwhile counts
    /// twice. False if that would pass the ceiling by more than a part of what an assured step may: steps that run at the same time do not
    /// take each other's. Forced, it is only counted.
    /// </summary>
    public bool TryPromise(long bytes, bool isForced)
    {
        SpinLatch.Enter(ref _gate);
        long ceiling = Ceiling;
        bool isPromised = _isLifted || isForced || _used + _promised + bytes <= ceiling + (BeyondAssured(ceiling) / PromisedPart);
        if (isPromised)
            _promised += bytes;
        SpinLatch.Exit(ref _gate);
        return isPromised;
    }

    /// <summary>Takes a promise back.</summary>
    public void EndPromise(long bytes)
    {
        SpinLatch.Enter(ref _gate);
        _promised -= bytes;
        long free = Ceiling - _used - _promised;
        SpinLatch.Exit(ref _gate);
        Bell.Free(free);
    }

    /// <summary>Bytes that a claim of so many may take beyond the ceiling.</summary>
    private long Beyond(Claim claim, long bytes, long ceiling) => claim switch
    {
        Claim.Limited when bytes > ceiling - _fixed - (ceiling / 64) => 0, // it would be evicted at once for what it is beyond
        Claim.Limited => ceiling / 64,
        Claim.Assured when bytes > ceiling => 0, // what would not fit into an empty store is assured to nobody
        Claim.Assured => BeyondAssured(ceiling),
        _ => BeyondAssured(ceiling) + (PromisedMore * _promised),
    };

    /// <summary>Bytes that an assured step may take beyond the ceiling.</summary>
    public static long BeyondAssured(long ceiling) => ceiling / 8 + AssuredBytes;

    public void Give(long bytes)
    {
        SpinLatch.Enter(ref _gate);
        _used -= bytes;
        _tight = _used >= _tightMark;
        long free = Ceiling - _used - _promised;
        SpinLatch.Exit(ref _gate);
        Bell.Free(free);
    }

    public void WakeMovers() => _wake.Set();

    /// <summary>A zeroed table of the store's own, touched page by page, unmapped with the arena.</summary>
    public byte* Table(long bytes)
    {
        bytes = (bytes + PageBytes - 1) / PageBytes * PageBytes;
        byte* table = (byte*)Map(bytes);
        if (table == null)
            throw new InvalidOperationException($"No address space for a table of {bytes} bytes.");
        lock (_tables) _tables.Add(new Mapped((nint)table, bytes));
        return table;
    }

    /// <summary>Gives the pages' memory back; they read as zero afterwards.</summary>
    public void Release(long offset, long bytes)
    {
        if (!Advise(offset, bytes, Libc.MADV_DONTNEED))
            NativeMemory.Clear(Base + offset, (nuint)bytes);
    }

    /// <summary>Gives the memory of a table back; it reads as zero afterwards.</summary>
    public static void ReleaseTable(byte* table, long bytes)
    {
        bool released = OperatingSystem.IsLinux() && Libc.madvise(table, (nint)bytes, Libc.MADV_DONTNEED) == 0;
        if (!released)
            NativeMemory.Clear(table, (nuint)bytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (Mapped table in _tables) Unmap((void*)table.Address, table.Bytes);
        _tables.Clear();
        Unmap(_mapping, _mappingBytes);
    }

    // Where room is made ahead of demand little of it is left most of the time: that is no news. A value of some megabytes must find room all the same.
    private long TightBytes(long ceiling) =>
        _wakeLow is null ? ceiling / 16 : Math.Max(ceiling / 64, Math.Min(ceiling / 16, 4 << 20));

    private bool Advise(long offset, long bytes, int advice) =>
        OperatingSystem.IsLinux() && Libc.madvise(Base + offset, (nint)bytes, advice) == 0;

    private static long Align(long bytes) => (bytes + HugePageBytes - 1) / HugePageBytes * HugePageBytes;

    // A process may be held to little address space: ask for less rather than fail.
    private static void* Reserve(ref long bytes, long limit)
    {
        while (true)
        {
            void* mapping = Map(bytes);
            if (mapping != null)
                return mapping;
            if (bytes / 2 < Math.Max(limit, 64 << 20))
                throw new InvalidOperationException($"Cannot reserve {bytes} bytes of address space.");
            bytes = bytes / 2 / HugePageBytes * HugePageBytes;
        }
    }

    private static void* Map(long bytes)
    {
        if (!OperatingSystem.IsLinux())
        {
            void* memory = NativeMemory.AlignedAlloc((nuint)bytes, PageBytes);
            NativeMemory.Clear(memory, (nuint)bytes);
            return memory;
        }
        void* mapping = Libc.mmap(null, (nint)bytes, Libc.PROT_READ | Libc.PROT_WRITE,
            Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS | Libc.MAP_NORESERVE, -1, 0);
        return (nint)mapping == -1 ? null : mapping;
    }

    private static void Unmap(void* mapping, long bytes)
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.munmap(mapping, (nint)bytes);
        else
            NativeMemory.AlignedFree(mapping);
    }

    private static bool SystemGrantsHugePages()
    {
        string setting = KernelFile.TextOf("/sys/kernel/mm/transparent_hugepage/enabled");
        return setting.Length > 0 && !setting.Contains("[never]", StringComparison.Ordinal);
    }

    private sealed record Mapped(nint Address, long Bytes);
}
