using System.Numerics;
using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Runs of 4 KiB pages for records too large for a segment. A freed run waits, still backed and still in the account,
/// to be used again: memory that is new costs a page fault every 4 KiB, which is three times what it costs to receive those bytes. What has waited
/// for a second or two without being wanted goes back to the system, by the mover, as do all where memory is short: that is a call to the
/// system, and the writer that frees holds a partition lock (store.U5). Runs given back are listed by size; neighbours are joined only when
/// no list has a run left (rare: address space is several times the limit).
/// </summary>
internal sealed unsafe class ExtentPool
{
    private const int Classes = 96, LookMax = 16;
    private const long WaitingMin = 4 << 20, WaitingMax = 1 << 30; // bytes that may wait: a 64th of the limit, within these
    private const int WaitingPart = 64, IdleMs = 1000, Leaving = 2, ReturnMs = 1000;
    private readonly Arena _arena;
    private readonly Extent* _extents;
    private readonly long _start;
    private readonly uint _pagesMax;
    private readonly uint[] _free = new uint[Classes];
    private int _gate, _returning;
    private long _returned;
    private uint _fresh = 1, _waiting, _oldest; // those that wait, the one freed last first
    private long _waitingBytes, _asideBytes, _leastWaiting, _lookedMs; // the least that waited since the last look for what is idle

    public ExtentPool(Arena arena)
    {
        _arena = arena;
        _start = arena.ExtentsStart;
        _pagesMax = (uint)Math.Min((arena.End - _start) / Arena.PageBytes, int.MaxValue);
        _extents = (Extent*)arena.Table((long)_pagesMax * sizeof(Extent));
    }

    public byte* Address(uint page) => _arena.Base + _start + (long)page * Arena.PageBytes;

    public uint PageOf(ulong offset) => (uint)(((long)offset - _start) / Arena.PageBytes);

    public ulong Offset(uint page) => (ulong)(_start + (long)page * Arena.PageBytes);

    public Extent* Descriptor(uint page) => _extents + page;

    public static int PagesFor(long bytes) => (int)((bytes + Arena.PageBytes - 1) / Arena.PageBytes);

    /// <summary>
    /// First page of a run of that many, or 0. What is set aside is no record's yet: it is counted as that until <see cref="EndAside"/>.
    /// </summary>
    public uint Take(int pages, Claim claim, bool isAside = false)
    {
        uint reused = Reuse(pages, isAside);
        if (reused != 0)
            return reused;
        long bytes = (long)pages * Arena.PageBytes;
        while (!(isAside ? TakeAside(bytes) : _arena.Take(bytes, claim)))
            if (!Return(1))
                return 0;
        SpinLatch.Enter(ref _gate);
        uint page = Find(pages);
        if (page == 0)
        {
            Join();
            page = Find(pages);
        }
        if (page != 0)
            _extents[page] = new Extent { Pages = pages, Taken = 1 };
        SpinLatch.Exit(ref _gate);
        if (page != 0)
            return page;
        if (isAside)
            GiveAside(bytes);
        else
            _arena.Give(bytes);
        return 0;
    }

    /// <summary>
    /// Counts memory that is no record's, here or beside the store, at the same moment as the account does: from any thread, without a lock of a partition,
    /// while a check may sum up all parts. False if the limit leaves no room for it.
    /// </summary>
    public bool TakeAside(long bytes)
    {
        SpinLatch.Enter(ref _gate);
        bool isTaken = _arena.Take(bytes, Claim.Limited);
        if (isTaken)
            _asideBytes += bytes;
        SpinLatch.Exit(ref _gate);
        return isTaken;
    }

    /// <summary>That memory is free again.</summary>
    public void GiveAside(long bytes)
    {
        SpinLatch.Enter(ref _gate);
        _asideBytes -= bytes;
        _arena.Give(bytes);
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>A run that was set aside is a record's from now on, whose partition is locked.</summary>
    public void EndAside(uint page)
    {
        SpinLatch.Enter(ref _gate);
        _asideBytes -= (long)_extents[page].Pages * Arena.PageBytes;
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>Frees a run; its memory stays for the mover to return, behind the last of its pins.</summary>
    public void Give(uint page, bool isAside = false)
    {
        SpinLatch.Enter(ref _gate);
        Extent* extent = _extents + page;
        long bytes = (long)extent->Pages * Arena.PageBytes;
        if (isAside)
            _asideBytes -= bytes;
        if (extent->Pins == 0)
        {
            Wait(page);
        }
        else
        {
            extent->Taken = Leaving;
            _asideBytes += bytes;
        }
        bool many = _waitingBytes > MayWait;
        SpinLatch.Exit(ref _gate);
        if (many)
            _arena.WakeMovers();
    }

    /// <summary>store.P1: for whoever has the lock of the record's partition.</summary>
    public void Pin(uint page)
    {
        SpinLatch.Enter(ref _gate);
        _extents[page].Pins++;
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>Takes a pin back; from any thread.</summary>
    public void Unpin(uint page)
    {
        SpinLatch.Enter(ref _gate);
        Extent* extent = _extents + page;
        extent->Pins--;
        Garnet.Common.Faults.Check.That(extent->Pins >= 0, "store.P1 what is let go was pinned");
        if (extent->Pins == 0 && extent->Taken == Leaving)
        {
            extent->Taken = 1;
            _asideBytes -= (long)extent->Pages * Arena.PageBytes;
            Wait(page);
        }
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>True if it was freed while it was pinned, and still is.</summary>
    public bool IsLeft(uint page) => Volatile.Read(ref _extents[page].Taken) == Leaving;

    /// <summary>True if freed runs wait.</summary>
    public bool HasWaiting => Volatile.Read(ref _oldest) != 0;

    /// <summary>True if somebody looks at what it holds; for whoever has the lock of the record's partition, without which nobody begins to.</summary>
    public bool IsPinned(uint page) => Volatile.Read(ref _extents[page].Pins) != 0;

    /// <summary>
    /// Returns the memory of some freed runs to the system; false if none waits. Under a partition lock only when no
    /// other memory is left.
    /// </summary>
    public bool Return(int runs)
    {
        bool any = false;
        while (runs-- > 0 && ReturnOldest() != 0)
            any = true;
        return any;
    }

    /// <summary>Returns what has not been wanted for a second or two, and what waits beyond the most that may; true if there was any.</summary>
    public bool ReturnIdle(long nowMs)
    {
        SpinLatch.Enter(ref _gate);
        long excess = _waitingBytes - MayWait;
        if (!Elapsed.IsWithin(nowMs, _lookedMs, IdleMs))
        {
            excess = Math.Max(excess, _leastWaiting);
            _lookedMs = nowMs;
            _leastWaiting = _waitingBytes - Math.Max(excess, 0);
        }
        SpinLatch.Exit(ref _gate);
        bool any = false;
        while (excess > 0 && ReturnOldest() is > 0 and var bytes)
        {
            excess -= bytes;
            any = true;
        }
        return any;
    }

    /// <summary>Runs that have been returned so far.</summary>
    public long Returned => Volatile.Read(ref _returned);

    /// <summary>
    /// True if more runs than so many have been returned, at once or once those are that somebody is returning now, which takes some milliseconds
    /// for a large one: memory that is no record's any more and in the account still is what nobody has to be refused for. Without a lock of a partition.
    /// </summary>
    public bool AwaitReturned(long than)
    {
        SpinWait spin = default;
        for (long endMs = Environment.TickCount64 + ReturnMs; Environment.TickCount64 <= endMs; spin.SpinOnce())
        {
            SpinLatch.Enter(ref _gate);
            (bool isMore, bool isReturning) = (_returned != than, _returning != 0);
            SpinLatch.Exit(ref _gate);
            if (isMore || !isReturning)
                return isMore;
            StoreTestHooks.Yield(YieldPoint.Blocked);
        }
        return false;
    }

    // Bytes of the run that went back; 0 if none waits.
    private long ReturnOldest()
    {
        SpinLatch.Enter(ref _gate);
        uint page = _oldest;
        if (page != 0)
        {
            EndWait(page);
            _returning++;
        }
        SpinLatch.Exit(ref _gate);
        if (page == 0)
            return 0;
        StoreTestHooks.Yield(YieldPoint.Returning);
        long bytes = (long)_extents[page].Pages * Arena.PageBytes;
        _arena.Release((long)Offset(page), bytes);
        SpinLatch.Enter(ref _gate);
        _extents[page].Taken = 0;
        Push(page);
        _waitingBytes -= bytes;
        _leastWaiting = Math.Min(_leastWaiting, _waitingBytes);
        _returning--;
        _returned++;
        _arena.Give(bytes);
        SpinLatch.Exit(ref _gate);
        return bytes;
    }

    /// <summary>Bytes in the account that are no record's, of freed runs and of what is set aside, and the account, at one moment.</summary>
    public long WaitingBytes(out long used)
    {
        SpinLatch.Enter(ref _gate);
        long waiting = _waitingBytes + _asideBytes;
        used = _arena.Used;
        SpinLatch.Exit(ref _gate);
        return waiting;
    }

    private long MayWait => Math.Clamp(_arena.Ceiling / WaitingPart, WaitingMin, WaitingMax);

    // A run that was freed lately and has the right size, or the front of a larger one: what is overwritten again and again needs no fresh memory.
    private uint Reuse(int pages, bool isAside)
    {
        SpinLatch.Enter(ref _gate);
        uint page = FindWaiting(pages);
        if (page != 0)
        {
            int rest = _extents[page].Pages - pages;
            EndWait(page);
            if (rest > 0)
            {
                _extents[page + (uint)pages] = new Extent { Pages = rest, Taken = 1 };
                Wait(page + (uint)pages);
            }
            _waitingBytes -= (long)(pages + rest) * Arena.PageBytes;
            _leastWaiting = Math.Min(_leastWaiting, _waitingBytes);
            if (isAside)
                _asideBytes += (long)pages * Arena.PageBytes;
            _extents[page] = new Extent { Pages = pages, Taken = 1 };
        }
        SpinLatch.Exit(ref _gate);
        return page;
    }

    private uint FindWaiting(int pages)
    {
        uint larger = 0, page = _waiting;
        for (int looked = 0; page != 0 && looked < LookMax; looked++)
        {
            int has = _extents[page].Pages;
            if (has == pages)
                return page;
            if (larger == 0 && has > pages && has / 2 <= pages)
                larger = page;
            page = _extents[page].Next;
        }
        return larger;
    }

    // Counted from here on; whoever ends the wait takes it out of the count once it is somebody else's.
    private void Wait(uint page)
    {
        Extent* extent = _extents + page;
        (extent->Next, extent->Previous) = (_waiting, 0);
        if (_waiting != 0)
            _extents[_waiting].Previous = page;
        else
            _oldest = page;
        _waiting = page;
        _waitingBytes += (long)extent->Pages * Arena.PageBytes;
    }

    private void EndWait(uint page)
    {
        (uint newer, uint older) = (_extents[page].Previous, _extents[page].Next);
        if (newer != 0)
            _extents[newer].Next = older;
        else
            _waiting = older;
        if (older != 0)
            _extents[older].Previous = newer;
        else
            _oldest = newer;
    }

    // Four classes per doubling; a run is listed under the largest class it fills.
    private static int ClassOf(int pages)
    {
        if (pages < 8)
            return pages;
        int log = BitOperations.Log2((uint)pages);
        return 8 + (log - 3) * 4 + (pages >> (log - 2) & 3);
    }

    private uint Find(int pages)
    {
        for (int c = ClassOf(pages); c < Classes; c++)
        {
            uint previous = 0, page = _free[c];
            for (int looked = 0; page != 0 && looked < LookMax; looked++)
            {
                if (_extents[page].Pages >= pages)
                    return Cut(c, previous, page, pages);
                previous = page;
                page = _extents[page].Next;
            }
        }
        if (_fresh + (uint)pages > _pagesMax)
            return 0;
        uint fresh = _fresh;
        _fresh += (uint)pages;
        return fresh;
    }

    private uint Cut(int listed, uint previous, uint page, int pages)
    {
        if (previous == 0)
            _free[listed] = _extents[page].Next;
        else
            _extents[previous].Next = _extents[page].Next;
        int rest = _extents[page].Pages - pages;
        if (rest > 0)
        {
            _extents[page + (uint)pages] = new Extent { Pages = rest };
            Push(page + (uint)pages);
        }
        return page;
    }

    private void Push(uint page)
    {
        int c = ClassOf(_extents[page].Pages);
        _extents[page].Next = _free[c];
        _free[c] = page;
    }

    // Walks all runs in address order and joins free neighbours.
    private void Join()
    {
        Array.Clear(_free);
        uint page = 1, open = 0;
        while (page < _fresh)
        {
            uint next = page + (uint)_extents[page].Pages;
            if (_extents[page].Taken != 0)
            {
                if (open != 0)
                    Push(open);
                open = 0;
            }
            else if (open == 0)
                open = page;
            else
                _extents[open].Pages += _extents[page].Pages;
            page = next;
        }
        if (open == 0)
            return;
        if (open + (uint)_extents[open].Pages == _fresh)
            _fresh = open;
        else
            Push(open);
    }
}
