using System.Buffers.Binary;

namespace Tsavorite;

/// <summary>
/// The records of a snapshot's cut that lie in sealed segments, as references that a start makes index words of without reading them: the word, and the bits of
/// the hash above its tag. A segment is sealed for good, and not reused while the snapshot runs (store.C2), so the reference may be handed out later.
/// </summary>
internal sealed unsafe class ColdNames(StoreCore core, ColdTier tier)
{
    public const int ReferenceBytes = 12;
    private const int ReferencesPerBlock = SnapshotWalk.BlockBytes / ReferenceBytes;
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, int> _named = [];
    // As they are when a segment is noted first, which is before anything of the cut has left it: what is removed because its time has come is in the snapshot all the same.
    private readonly Dictionary<uint, (long Min, long Max)> _expiry = [];
    private readonly byte[] _block = new byte[SnapshotWalk.BlockBytes];
    private List<(ulong Word, uint Above)> _noted = [], _taken = [];
    private int _used;

    /// <summary>The segments that were named, in ascending order; of a run the first.</summary>
    public uint[] Segments => [.. _named.Keys.Order()];

    /// <summary>
    /// Notes a cold word, whose partition is locked; false if its record is to be read instead: its segment is still being filled, was not written to its end, or has
    /// records of several namespaces, so that nobody knows without a look which this one is of.
    /// </summary>
    public bool TryNote(Partition* partition, byte* bucket, ulong word)
    {
        ColdSegment* segment = tier.Segments[tier.Segments.NumberOf(word)];
        if (segment->State != ColdState.Sealed || segment->Namespace < 0 || segment->End == 0)
            return false;
        lock (_gate)
        {
            _noted.Add((ColdAddress.Name(word), HashBits.Above(core.Shape, partition, bucket)));
            _expiry.TryAdd(tier.Segments.NumberOf(word), (segment->MinExpiryMs, segment->MaxExpiryMs));
        }
        return true;
    }

    /// <summary>Hands out what was noted; by the thread that steps the snapshot.</summary>
    public void HandOut(StoreSnapshot snapshot, INamingSink sink)
    {
        lock (_gate) (_noted, _taken) = (_taken, _noted);
        foreach ((ulong word, uint above) in _taken)
        {
            uint number = tier.Segments.NumberOf(word);
            System.Runtime.InteropServices.CollectionsMarshal.GetValueRefOrAddDefault(_named, number, out _)++;
            BinaryPrimitives.WriteUInt64LittleEndian(_block.AsSpan(_used), word);
            BinaryPrimitives.WriteUInt32LittleEndian(_block.AsSpan(_used + sizeof(ulong)), above);
            _used += ReferenceBytes;
            if (_used == ReferencesPerBlock * ReferenceBytes)
                Flush(snapshot, sink);
        }
        _taken.Clear();
    }

    /// <summary>The last references, and the table of their segments.</summary>
    public void End(StoreSnapshot snapshot, INamingSink sink)
    {
        HandOut(snapshot, sink);
        Flush(snapshot, sink);
        byte[] table = new byte[SegmentTable.BytesMax];
        foreach (SegmentRow[] part in Rows(snapshot).Chunk(SegmentTable.RowsMax))
        {
            SegmentTable.WriteHead(table, core, tier);
            fixed (byte* to = table)
            {
                for (int i = 0; i < part.Length; i++) ((SegmentRow*)(to + SegmentTable.HeadBytes))[i] = part[i];
            }
            sink.WriteSegments(table.AsSpan(0, SegmentTable.HeadBytes + (part.Length * SegmentRow.Bytes)), part.Length);
        }
    }

    // Each segment that is named, and those behind it in its run: the first opened first, as what has lain there for longest is given up first after a start, too.
    private List<SegmentRow> Rows(StoreSnapshot snapshot)
    {
        List<SegmentRow> rows = [];
        foreach (uint number in Segments.OrderBy(number => tier.Segments[number]->Opened))
        {
            ColdSegment* segment = tier.Segments[number];
            SegmentRow row = SegmentRow.Of(number, segment, snapshot.DatabaseOf((uint)segment->Namespace), _named[number]);
            (row.MinExpiryMs, row.MaxExpiryMs) = _expiry[number];
            rows.Add(row);
            int place = 0;
            for (uint next = segment->Next; next != 0; next = tier.Segments[next]->Next)
                rows.Add(SegmentRow.Behind(row, next, tier.Segments[next], ++place));
        }
        return rows;
    }

    private void Flush(StoreSnapshot snapshot, INamingSink sink)
    {
        if (_used == 0)
            return;
        sink.WriteReferences(_block.AsSpan(0, _used), _used / ReferenceBytes);
        snapshot.CountOut(_used / ReferenceBytes, _used);
        _used = 0;
    }
}
