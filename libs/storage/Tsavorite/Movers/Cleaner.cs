namespace Tsavorite;

/// <summary>
/// Keeps dead space bounded: empties the segment with the most dead bytes and frees it. Draining is a state of the
/// partition, so that the background thread and a writer in need may both push the same segment along.
/// The segment is marked before the first record is copied (store.U13).
/// </summary>
internal sealed unsafe class Cleaner
{
    private const int RecordsPerHold = 10, SkipsPerHold = 256;
    private readonly StoreCore _core;
    private readonly long[] _seen;

    public Cleaner(StoreCore core)
    {
        _core = core;
        _seen = new long[core.Shape->PartitionCount];
    }

    /// <summary>
    /// Cleans one segment if a quarter of the partition's record bytes is dead, or a sixteenth while nobody appends there; true if it did.
    /// </summary>
    public bool Step(Partition* partition, long nowMs)
    {
        bool isQuiet = IsQuiet(partition);
        return Clean(partition, nowMs, DeadShare(partition) > (isQuiet ? 0.0625 : 0.25) ? isQuiet ? 16 : 8 : 0, passesHeld: true);
    }

    /// <summary>
    /// Cleans the partition's segment with the most dead bytes if at least one part in <paramref name="parts"/> of it is dead (0:
    /// only goes on with a drain already begun); true if it did, or left the rest for later because somebody else came to hold the partition.
    /// </summary>
    public bool Clean(Partition* partition, long nowMs, int parts, bool passesHeld = false)
    {
        if (partition->Draining == 0)
        {
            if (parts == 0 || partition->Segments < 2 || DeadBytes(partition) < _core.Shape->SegmentBytes / parts)
                return false;
            Partition.Enter(partition);
            uint number = partition->Draining != 0 ? 0 : _core.Records.MostDead(partition);
            if (number != 0 && IsWorthIt(number, parts))
                _core.Records.BeginDrain(partition, number);
            bool drains = partition->Draining != 0;
            Partition.Exit(partition);
            if (!drains)
                return false;
        }
        while (Drain(partition, nowMs, out bool stuck))
        {
            if (stuck)
                return false;
            if (passesHeld && Partition.IsHeld(partition))
                break;
        }
        return true;
    }

    /// <summary>Dead bytes in all record segments of the partition (a peek, not exact while others write).</summary>
    public long DeadBytes(Partition* partition)
    {
        long bytes = (long)partition->Segments * (_core.Shape->SegmentBytes - Segment.HeaderBytes)
            - (partition->LiveBytes - partition->ExtentBytes) - partition->TailBytes;
        for (int c = 0; c < _core.Shape->Classes; c++)
        {
            uint number = partition->Active[c];
            if (number != 0)
                bytes -= _core.Shape->SegmentBytes - _core.Shape->Segments[number].Used;
        }
        return Math.Max(bytes, 0);
    }

    /// <summary>
    /// Bytes that <see cref="Clean"/> with as many <paramref name="parts"/> gives back (a peek, and a walk over all segments): what is dead in places
    /// between records stays where it is.
    /// </summary>
    public long DeadWithin(int parts)
    {
        long bytes = 0;
        for (uint number = 1; number < _core.Segments.End; number++)
        {
            Segment* segment = _core.Shape->Segments + number;
            if (segment->State == SegmentState.Draining)
                bytes += _core.Shape->SegmentBytes - segment->LiveBytes; // what has left it has its room elsewhere
            else if (segment->State == SegmentState.Full && IsWorthIt(number, parts)
                && _core.Shape->Partitions[segment->Partition].Segments > 1)
                bytes += segment->DeadBytes;
        }
        return bytes;
    }

    // Where records without expiry go has not moved since the last look; what cleaning itself moves there is not counted.
    private bool IsQuiet(Partition* partition)
    {
        uint number = partition->Active[0];
        long place = ((long)number << 32) + (number == 0 ? 0 : _core.Shape->Segments[number].Used) - partition->CleanedBytes;
        bool isQuiet = _seen[partition->Number] == place;
        _seen[partition->Number] = place;
        return isQuiet;
    }

    private double DeadShare(Partition* partition) =>
        partition->Segments < 2 ? 0 : (double)DeadBytes(partition) / ((double)partition->Segments * _core.Shape->SegmentBytes);

    private bool IsWorthIt(uint number, int parts) =>
        _core.Shape->Segments[number].DeadBytes >= _core.Shape->SegmentBytes / parts;

    /// <summary>
    /// For whoever holds the partition, between two parts of a large change (store.U20): empties segments of which a third or more is dead, until little is.
    /// True if records have moved.
    /// </summary>
    public bool CleanHeld(Partition* partition, long nowMs)
    {
        const int Parts = 3, LimitParts = 32;
        const long DeadMax = 8 << 20;
        bool hasMoved = false, stuck = false;
        long mayBeDead = Math.Max(2 * _core.Shape->SegmentBytes, Math.Min(DeadMax, _core.Arena.Ceiling / LimitParts));
        while (!stuck && DeadBytes(partition) > mayBeDead)
        {
            if (partition->Draining == 0)
            {
                uint number = _core.Records.MostDead(partition);
                if (number == 0 || !IsWorthIt(number, Parts))
                    break;
                _core.Records.BeginDrain(partition, number);
            }
            hasMoved = true;
            DrainHeld(partition, nowMs, int.MaxValue, int.MaxValue, out stuck);
        }
        return hasMoved;
    }

    // One short lock hold; false when nothing is being drained any more.
    private bool Drain(Partition* partition, long nowMs, out bool stuck)
    {
        stuck = false;
        Partition.Enter(partition);
        bool goesOn = partition->Draining != 0 && !DrainHeld(partition, nowMs, RecordsPerHold, SkipsPerHold, out stuck);
        Partition.Exit(partition);
        return goesOn;
    }

    // True when the segment is drained.
    private bool DrainHeld(Partition* partition, long nowMs, int moves, int skips, out bool stuck)
    {
        stuck = false;
        uint number = partition->Draining;
        Segment* segment = _core.Shape->Segments + number;
        byte* start = _core.Records.Address(number);
        while (partition->DrainOffset < segment->Used && segment->LiveBytes != 0 && moves > 0 && skips-- > 0)
        {
            byte* record = start + partition->DrainOffset;
            int bytes = Record.Capacity(record);
            if (Record.Kind(record) != RecordKind.Padding)
            {
                stuck = !_core.Relocate(partition, record, nowMs);
                if (stuck)
                    break;
                moves--;
            }
            partition->DrainOffset += bytes;
        }
        bool done = segment->LiveBytes == 0;
        Garnet.Common.Faults.Check.That(done || partition->DrainOffset < segment->Used,
            "store.U13 a draining segment keeps no record behind its walk");
        if (done)
            _core.Records.EndDrain(partition);
        return done;
    }
}
