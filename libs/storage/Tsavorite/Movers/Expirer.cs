namespace Tsavorite;

/// <summary>
/// Removes records whose time has come. Segments know their earliest expiry, and classes put records that die
/// together side by side: only segments with something due are walked.
/// </summary>
internal sealed unsafe class Expirer
{
    private const int RemovalsPerHold = 32, SegmentsPerHold = 4;
    private readonly StoreCore _core;

    public Expirer(StoreCore core) => _core = core;

    /// <summary>One lock hold of work; true if more is due.</summary>
    public bool Step(Partition* partition, long nowMs)
    {
        if (Volatile.Read(ref partition->MinExpiryMs) > nowMs && Volatile.Read(ref partition->ExtentMinExpiryMs) > nowMs)
            return false;
        Partition.Enter(partition);
        int removals = RemovalsPerHold;
        if (partition->MinExpiryMs <= nowMs)
            SweepSegments(partition, nowMs, ref removals);
        if (partition->ExtentMinExpiryMs <= nowMs && removals > 0)
            SweepExtents(partition, nowMs, ref removals);
        bool more = partition->MinExpiryMs <= nowMs || partition->ExtentMinExpiryMs <= nowMs;
        Partition.Exit(partition);
        return more;
    }

    private void SweepSegments(Partition* partition, long nowMs, ref int removals)
    {
        Segment* segments = _core.Shape->Segments;
        int walks = SegmentsPerHold;
        long earliest = long.MaxValue;
        uint next;
        for (uint number = partition->SegmentsHead; number != 0; number = next)
        {
            next = segments[number].Next;
            if (segments[number].MinExpiryMs <= nowMs)
            {
                if (walks-- == 0 || removals <= 0)
                    return;
                if (!SweepSegment(partition, number, nowMs, ref removals))
                    continue;
                if (removals <= 0)
                    return;
            }
            earliest = Math.Min(earliest, segments[number].MinExpiryMs);
        }
        partition->MinExpiryMs = earliest;
    }

    // False if the segment died with its last record.
    private bool SweepSegment(Partition* partition, uint number, long nowMs, ref int removals)
    {
        Segment* segment = _core.Shape->Segments + number;
        byte* start = _core.Records.Address(number);
        long earliest = long.MaxValue;
        int bytes;
        for (int offset = Segment.HeaderBytes; offset < segment->Used; offset += bytes)
        {
            byte* record = start + offset;
            bytes = Record.Capacity(record);
            long expireAtMs = Record.ExpireAtMs(record);
            if (Record.Kind(record) == RecordKind.Padding || expireAtMs == 0)
                continue;
            if (expireAtMs > nowMs)
            {
                earliest = Math.Min(earliest, expireAtMs);
                continue;
            }
            if (removals-- <= 0)
                return true;
            bool last = segment->LiveBytes == bytes && segment->State == SegmentState.Full;
            Remove(partition, record);
            if (last)
                return false;
        }
        segment->MinExpiryMs = earliest;
        return true;
    }

    private void SweepExtents(Partition* partition, long nowMs, ref int removals)
    {
        long earliest = long.MaxValue;
        uint next;
        for (uint page = partition->ExtentsHead; page != 0; page = next)
        {
            Extent* extent = _core.Records.ExtentDescriptor(page);
            next = extent->Next;
            if (extent->ExpireAtMs == 0)
                continue;
            if (extent->ExpireAtMs > nowMs)
                earliest = Math.Min(earliest, extent->ExpireAtMs);
            else if (removals-- > 0)
                Remove(partition, _core.Records.ExtentAddress(page));
            else
                return;
        }
        partition->ExtentMinExpiryMs = earliest;
    }

    private void Remove(Partition* partition, byte* record)
    {
        KeyRef key = _core.KeyOf(record);
        byte* bucket = Shape.BucketOf(_core.Shape, partition, key.Hash);
        ulong* slot = Bucket.FindAddress(partition, bucket, (ulong)(record - _core.Shape->Base));
        Garnet.Common.Faults.Check.That(slot != null, "store.U4 a record that is not dead is named by its word");
        _core.RemoveUnasked(partition, bucket, slot, key, KeyChange.Expired);
    }
}
