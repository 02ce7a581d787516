using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// Where a partition's records lie: an active segment per expiry class that new records are appended to, full
/// segments, and extents for large records. Everything here runs under the partition's lock.
/// An address is not handed out again before its segment has no live record and was freed (store.U4).
/// A segment whose last record dies is freed at once, unless it is active or being drained.
/// </summary>
internal sealed unsafe class RecordSpace
{
    private static readonly long[] ClassWidthsMs = [10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000];
    private readonly Shape* _shape;
    private readonly SegmentPool _segments;
    private readonly ExtentPool _extents;
    private int _cleanable;
    private uint _youngest;

    public RecordSpace(Shape* shape, SegmentPool segments, ExtentPool extents)
    {
        _shape = shape;
        _segments = segments;
        _extents = extents;
    }

    /// <summary>Where memory is short a segment is worth cleaning if one part in so many of it is dead.</summary>
    public const int CleanableParts = 6;

    /// <summary>
    /// Segments of all partitions that are worth cleaning, or are being drained: while there is one, nothing needs to be evicted. Counted as they come and go, since
    /// the dead space of one large collection that grows lies in a single partition of many.
    /// </summary>
    public int Cleanable => Volatile.Read(ref _cleanable);

    public static void Open(Partition* partition)
    {
        partition->MinExpiryMs = long.MaxValue;
        partition->ExtentMinExpiryMs = long.MaxValue;
    }

    /// <summary>
    /// Uninitialised room for a record of that many bytes, or null. The word that names it is returned with tag,
    /// tier and flags set; it counts as live from now on.
    /// </summary>
    public byte* Append(Partition* partition, int bytes, in NewRecord next, long nowMs, bool force)
    {
        if (bytes > _shape->RecordBytesMax)
            return AppendExtent(partition, bytes, next.ExpireAtMs, force);
        int ttlClass = _shape->Classes == 1 ? 0 : ClassOf(next.ExpireAtMs, nowMs);
        uint number = partition->Active[ttlClass];
        Segment* segment = _shape->Segments + number;
        if (number == 0 || segment->Used + bytes > _shape->SegmentBytes)
        {
            number = NextActive(partition, ttlClass, force);
            if (number == 0)
                return null;
            segment = _shape->Segments + number;
        }
        byte* record = _segments.Address(number) + segment->Used;
        segment->Used += bytes;
        segment->LiveBytes += bytes;
        partition->LiveBytes += bytes;
        if (next.ExpireAtMs != 0)
            NoteExpiry(partition, segment, next.ExpireAtMs);
        return record;
    }

    /// <summary>The record is dead: its word names something else or nothing; the bucket's sequence may be odd.</summary>
    public void Kill(Partition* partition, byte* record)
    {
        ulong offset = (ulong)(record - _shape->Base);
        if ((Record.Flags(record) & Record.ExtentFlag) != 0)
        {
            KillExtent(partition, offset);
            return;
        }
        int bytes = Record.Capacity(record);
        record[4] = (byte)RecordKind.Padding;
        uint number = Shape.SegmentOf(_shape, offset);
        Segment* segment = _shape->Segments + number;
        if (StoreTestHooks.Has(PlantedFault.ForgetLiveBytes))
            return;
        segment->LiveBytes -= bytes;
        partition->LiveBytes -= bytes;
        StoreTestHooks.Yield(YieldPoint.Killed);
        if (segment->State != SegmentState.Full)
            return;
        int dead = segment->DeadBytes;
        if (IsCleanable(dead) && !IsCleanable(dead - bytes))
            CountCleanable(partition, 1);
        if (segment->LiveBytes == 0)
            Free(partition, number);
    }

    /// <summary>Bytes the record has for itself, slack included.</summary>
    public long Capacity(byte* record) => (Record.Flags(record) & Record.ExtentFlag) == 0
        ? Record.Capacity(record)
        : (long)_extents.Descriptor(_extents.PageOf((ulong)(record - _shape->Base)))->Pages * Arena.PageBytes;

    /// <summary>store.U13: the record lies in the segment being drained.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsDraining(Shape* shape, Partition* partition, byte* record)
    {
        uint draining = partition->Draining;
        return draining != 0 && !StoreTestHooks.Has(PlantedFault.SkipDrainingRule)
            && draining == Shape.SegmentOf(shape, (ulong)(record - shape->Base)) && (Record.Flags(record) & Record.ExtentFlag) == 0;
    }

    /// <summary>True if what the record holds may not change where it lies: it is being drained (store.U13), or somebody looks at it without a lock (store.P1).</summary>
    public bool MustMove(Partition* partition, byte* record) => (Record.Flags(record) & Record.ExtentFlag) != 0
        ? _extents.IsPinned(ExtentOf(record)) && !StoreTestHooks.Has(PlantedFault.WriteIntoPinned)
        : IsDraining(_shape, partition, record);

    /// <summary>store.P1</summary>
    public void Pin(uint page) => _extents.Pin(page);

    /// <summary>Takes a pin back; from any thread.</summary>
    public void Unpin(uint page) => _extents.Unpin(page);

    /// <summary>True if the extent is no record's any more, and pinned.</summary>
    public bool IsLeft(uint page) => _extents.IsLeft(page);

    /// <summary>True if memory of freed extents waits to be used again, or returned.</summary>
    public bool HasWaiting => _extents.HasWaiting;

    /// <summary>The record's expiry changed in place.</summary>
    public void NoteExpiry(Partition* partition, byte* record, long expireAtMs)
    {
        ulong offset = (ulong)(record - _shape->Base);
        if ((Record.Flags(record) & Record.ExtentFlag) == 0)
        {
            if (expireAtMs != 0 && !StoreTestHooks.Has(PlantedFault.ForgetEarlierExpiry))
                NoteExpiry(partition, _shape->Segments + Shape.SegmentOf(_shape, offset), expireAtMs);
            return;
        }
        _extents.Descriptor(_extents.PageOf(offset))->ExpireAtMs = expireAtMs;
        if (expireAtMs != 0 && expireAtMs < partition->ExtentMinExpiryMs)
            partition->ExtentMinExpiryMs = expireAtMs;
    }

    /// <summary>store.C1, store.C13: what the record holds is about to change where it lies; whoever copies it part by part finds out, and what it was on the tier it is no more.</summary>
    public void BreakCopy(byte* record)
    {
        CleanCopy.Drop(record);
        if ((Record.Flags(record) & Record.ExtentFlag) != 0)
            _extents.Descriptor(ExtentOf(record))->Copy = 0;
    }

    /// <summary>Closes active segments without live records, so that an empty partition owns no segment.</summary>
    public void RetireEmptyActives(Partition* partition)
    {
        for (int c = 0; c < _shape->Classes; c++)
        {
            uint number = partition->Active[c];
            if (number == 0 || _shape->Segments[number].LiveBytes != 0)
                continue;
            partition->Active[c] = 0;
            Free(partition, number);
        }
    }

    /// <summary>The full segment with the most dead bytes, or 0. What stayed free at its end is not dead: moving its records would not win it.</summary>
    public uint MostDead(Partition* partition)
    {
        uint best = 0;
        for (uint number = partition->SegmentsHead; number != 0; number = _shape->Segments[number].Next)
        {
            Segment* segment = _shape->Segments + number;
            if (segment->State == SegmentState.Full && (best == 0 || segment->DeadBytes > _shape->Segments[best].DeadBytes))
                best = number;
        }
        return best;
    }

    public void BeginDrain(Partition* partition, uint number)
    {
        Segment* segment = _shape->Segments + number;
        if (!IsCleanable(segment->DeadBytes))
            CountCleanable(partition, 1);
        segment->State = SegmentState.Draining;
        partition->Draining = number;
        partition->DrainOffset = Segment.HeaderBytes;
    }

    public void EndDrain(Partition* partition)
    {
        uint number = partition->Draining;
        partition->Draining = 0;
        Garnet.Common.Faults.Check.That(_shape->Segments[number].LiveBytes == 0, "store.U4 a drained segment holds no live record");
        Free(partition, number);
    }

    /// <summary>The segment counts as the partition's youngest from now on.</summary>
    public void Renew(Partition* partition, uint number)
    {
        Segment* segment = _shape->Segments + number;
        if (partition->SegmentsHead == number)
            return;
        _shape->Segments[segment->Previous].Next = segment->Next;
        if (segment->Next != 0)
            _shape->Segments[segment->Next].Previous = segment->Previous;
        segment->Previous = 0;
        segment->Next = partition->SegmentsHead;
        _shape->Segments[segment->Next].Previous = number;
        partition->SegmentsHead = number;
    }

    /// <summary>The extent counts as the partition's youngest from now on.</summary>
    public void RenewExtent(Partition* partition, uint page)
    {
        Extent* extent = _extents.Descriptor(page);
        Delist(partition, page, extent);
        Enlist(partition, page, extent);
    }

    public byte* Address(uint number) => _segments.Address(number);

    public byte* ExtentAddress(uint page) => _extents.Address(page);

    /// <summary>Returns the memory of some freed extents; false if none waits.</summary>
    public bool ReturnExtents(int runs) => _extents.Return(runs);

    /// <summary>How many freed extents have been returned so far, by anybody.</summary>
    public long ExtentsReturned => _extents.Returned;

    /// <summary>True if more extents than so many have been returned, at once or once those are that somebody is returning now; without a lock.</summary>
    public bool AwaitReturned(long than) => _extents.AwaitReturned(than);

    /// <summary>Returns the memory of freed extents that nobody has wanted for a while; true if there was any.</summary>
    public bool ReturnIdleExtents(long nowMs) => _extents.ReturnIdle(nowMs);

    /// <summary>Bytes of freed extents still in the account, and the account.</summary>
    public long WaitingBytes(out long used) => _extents.WaitingBytes(out used);

    /// <summary>First page of an extent's record.</summary>
    public uint ExtentOf(byte* record) => _extents.PageOf((ulong)(record - _shape->Base));

    public Extent* ExtentDescriptor(uint page) => _extents.Descriptor(page);

    private int ClassOf(long expireAtMs, long nowMs)
    {
        if (expireAtMs == 0)
            return 0;
        int raw = 1;
        foreach (long width in ClassWidthsMs)
            if (expireAtMs - nowMs >= width)
                raw++;
        return 1 + (raw - 1) * (_shape->Classes - 1) / (Partition.ClassesMax - 1);
    }

    private uint NextActive(Partition* partition, int ttlClass, bool force)
    {
        uint number = _segments.Take(partition->Number, ttlClass, force ? Claim.Forced : partition->Claim);
        if (number == 0)
            return 0;
        uint old = partition->Active[ttlClass];
        partition->Active[ttlClass] = number;
        Segment* segment = _shape->Segments + number;
        segment->Next = partition->SegmentsHead;
        if (segment->Next != 0)
            _shape->Segments[segment->Next].Previous = number;
        partition->SegmentsHead = number;
        partition->Segments++;
        if (old == 0)
            return number;
        _shape->Segments[old].State = SegmentState.Full;
        partition->TailBytes += _shape->SegmentBytes - _shape->Segments[old].Used;
        if (IsCleanable(_shape->Segments[old].DeadBytes))
            CountCleanable(partition, 1);
        if (_shape->Segments[old].LiveBytes == 0)
            Free(partition, old);
        return number;
    }

    private void Free(Partition* partition, uint number)
    {
        Segment* segment = _shape->Segments + number;
        if (segment->Previous != 0)
            _shape->Segments[segment->Previous].Next = segment->Next;
        else
            partition->SegmentsHead = segment->Next;
        if (segment->Next != 0)
            _shape->Segments[segment->Next].Previous = segment->Previous;
        partition->Segments--;
        if (segment->State != SegmentState.Active)
            partition->TailBytes -= _shape->SegmentBytes - segment->Used;
        if (IsCounted(segment))
            CountCleanable(partition, -1);
        _segments.Give(number);
        if (StoreTestHooks.Has(PlantedFault.DoubleFreeSegment))
            _segments.Give(number);
    }

    /// <summary>True if <see cref="Cleanable"/> has it.</summary>
    public bool IsCounted(Segment* segment) => segment->State == SegmentState.Draining
        || (segment->State == SegmentState.Full && IsCleanable(segment->DeadBytes));

    /// <summary>True if the record that a word names was written lately: it lies where records are appended, or is the extent that came last.</summary>
    public bool IsYoung(ulong word)
    {
        ulong offset = IndexWord.Offset(word);
        return (word & IndexWord.TierMask) == IndexWord.Extent
            ? _extents.PageOf(offset) == _youngest
            : _shape->Segments[Shape.SegmentOf(_shape, offset)].State == SegmentState.Active;
    }

    private bool IsCleanable(int deadBytes) => deadBytes >= _shape->SegmentBytes / CleanableParts;

    private void CountCleanable(Partition* partition, int change)
    {
        partition->Cleanable += change;
        Interlocked.Add(ref _cleanable, change);
    }

    private static void NoteExpiry(Partition* partition, Segment* segment, long expireAtMs)
    {
        if (expireAtMs < segment->MinExpiryMs)
            segment->MinExpiryMs = expireAtMs;
        if (expireAtMs < partition->MinExpiryMs)
            partition->MinExpiryMs = expireAtMs;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte* AppendExtent(Partition* partition, int bytes, long expireAtMs, bool force)
    {
        long withTime = (long)bytes + Record.FieldBytes; // Record.FlagsInExtent
        uint page = _extents.Take(ExtentPool.PagesFor(withTime), force ? Claim.Forced : partition->Claim);
        return page == 0 ? null : Adopt(partition, page, expireAtMs);
    }

    // A run of pages is a record of the partition from now on.
    private byte* Adopt(Partition* partition, uint page, long expireAtMs)
    {
        Extent* extent = _extents.Descriptor(page);
        extent->ExpireAtMs = expireAtMs;
        _youngest = page;
        Enlist(partition, page, extent);
        long taken = (long)extent->Pages * Arena.PageBytes;
        partition->ExtentBytes += taken;
        partition->LiveBytes += taken;
        if (expireAtMs != 0 && expireAtMs < partition->ExtentMinExpiryMs)
            partition->ExtentMinExpiryMs = expireAtMs;
        return _extents.Address(page);
    }

    /// <summary>A run of pages that is no record yet, or 0; from any thread, without a lock, as is <see cref="Unstage"/>.</summary>
    public uint Stage(long bytes) => _extents.Take(ExtentPool.PagesFor(bytes), Claim.Limited, isAside: true);

    /// <summary>Gives back a run that has become no record.</summary>
    public void Unstage(uint page) => _extents.Give(page, isAside: true);

    /// <summary>A run that was staged is a record of the partition from now on.</summary>
    public byte* AdoptStaged(Partition* partition, uint page, long expireAtMs)
    {
        _extents.EndAside(page);
        return Adopt(partition, page, expireAtMs);
    }

    /// <summary>Counts memory for values on their way that lies beside the store; false if the limit leaves no room for it.</summary>
    public bool TakeBeside(long bytes) => _extents.TakeAside(bytes);

    /// <summary>That memory is free again.</summary>
    public void GiveBeside(long bytes) => _extents.GiveAside(bytes);

    private void KillExtent(Partition* partition, ulong offset)
    {
        uint page = _extents.PageOf(offset);
        Extent* extent = _extents.Descriptor(page);
        extent->Copy = 0;
        Delist(partition, page, extent);
        long taken = (long)extent->Pages * Arena.PageBytes;
        if (!StoreTestHooks.Has(PlantedFault.ForgetExtentAccount))
            partition->ExtentBytes -= taken;
        partition->LiveBytes -= taken;
        _extents.Give(page);
    }

    // The oldest first, so that the demoter's clock meets them in that order. Before the first is the last, behind the last none.
    private void Enlist(Partition* partition, uint page, Extent* extent)
    {
        extent->Next = 0;
        extent->Previous = page;
        if (partition->ExtentsHead == 0)
        {
            partition->ExtentsHead = page;
            return;
        }
        Extent* head = _extents.Descriptor(partition->ExtentsHead);
        extent->Previous = head->Previous;
        _extents.Descriptor(head->Previous)->Next = page;
        head->Previous = page;
    }

    private void Delist(Partition* partition, uint page, Extent* extent)
    {
        if (partition->ExtentsHead == page)
            partition->ExtentsHead = extent->Next;
        else
            _extents.Descriptor(extent->Previous)->Next = extent->Next;
        uint after = extent->Next != 0 ? extent->Next : partition->ExtentsHead;
        if (after != 0)
            _extents.Descriptor(after)->Previous = extent->Previous;
    }
}
