namespace Tsavorite;

/// <summary>
/// Moves records that nobody reads from memory to the tier, before anybody has to wait for room: second chance over the segments and extents of each
/// partition, always the oldest. A record that was read since it was met last loses a step of its frequency and stays; of the others copies are
/// made, written, and named (<see cref="ColdWriter"/>); what still is what it was on the tier goes back there without (<see cref="CleanCopy"/>). What was walked counts as the youngest: what came meanwhile has as long a time to be read.
/// What is left of a segment the <see cref="Cleaner"/> moves together.
/// </summary>
internal sealed unsafe class Demoter
{
    private const int RecordsPerHold = 32, ExtentsPerHold = 2, PassesMax = 4;
    private const int BytesPerHold = 64 << 10;
    private readonly StoreCore _core;
    private readonly ColdWriter _writer;
    private readonly ColdLayers _segments;
    private readonly Place[] _places;
    private int _turn, _revived;
    private long _revivedBytes;
    private bool _onlyRevives;

    /// <summary>Segments that are being filled are walked too.</summary>
    public bool TakesActive { get; set; }

    public Demoter(StoreCore core, ColdWriter writer)
    {
        _core = core;
        _writer = writer;
        _segments = core.Tier!.Segments;
        _places = new Place[core.Shape->PartitionCount];
    }

    /// <summary>
    /// Stages records until <paramref name="bytes"/> of them are staged or have gone back, or the clock has come round about once. <paramref name="isFull"/>: the tier has
    /// no free segment.
    /// </summary>
    public long Stage(long bytes, out bool isFull)
    {
        isFull = false;
        long staged = 0;
        TakeRevived();
        for (long holds = HoldsOfLap(); holds > 0 && staged + Moving < bytes; holds--)
        {
            staged += _writer.Runs.Advance(bytes - staged - Moving);
            if (_writer.Runs.IsActive)
                break;
            int number = _turn++ & (_core.Shape->PartitionCount - 1);
            Partition* partition = _core.Shape->Partitions + number;
            if (partition->LiveBytes == 0)
                continue;
            if (!Hold(partition, ref _places[number], out isFull))
                continue;
            if (isFull)
                break;
            staged += _writer.StagedBytes;
            _writer.Flush(seal: false);
        }
        staged += _writer.Runs.Advance(bytes - staged - Moving);
        // The others have what there is: that a long one has too few segments is told when nothing else is to be moved.
        isFull |= staged + Moving == 0 && _writer.Runs.Lacking > 0;
        return staged + Moving;
    }

    /// <summary>
    /// Has records go back that need no write (store.C13), where nothing may be written: until that many bytes have, or so many times the lock was held. Returns
    /// their bytes.
    /// </summary>
    public long Revive(long bytes, int holds)
    {
        TakeRevived();
        _onlyRevives = true;
        for (; holds > 0 && _revivedBytes < bytes; holds--)
        {
            int number = _turn++ & (_core.Shape->PartitionCount - 1);
            if (_core.Shape->Partitions[number].LiveBytes != 0)
                Hold(_core.Shape->Partitions + number, ref _places[number], out _);
        }
        _onlyRevives = false;
        return _revivedBytes;
    }

    // What is staged, and what has gone back since the round began.
    private long Moving => _writer.StagedBytes + _revivedBytes;

    private int TakeRevived()
    {
        int revived = _revived;
        (_revived, _revivedBytes) = (0, 0);
        return revived;
    }

    /// <summary>Moves the records of a key, read or not, as far as the tier takes them; returns how many have moved.</summary>
    public int Move(DemotionRequest request)
    {
        int moved = 0;
        bool isFull = false, finds = true;
        _writer.Runs.Advance(long.MaxValue); // of another key
        _writer.Flush(seal: false);
        TakeRevived();
        // One that the cleaner moved, or somebody read, between copy and commit stays, and is met by the next pass.
        for (int passes = PassesMax; passes > 0 && finds && !isFull; passes--)
            moved += MoveOnce(request, out finds, out isFull);
        return moved;
    }

    private int MoveOnce(DemotionRequest request, out bool finds, out bool isFull)
    {
        KeyRef key = request.Key;
        Partition* partition = Shape.PartitionOf(_core.Shape, key.Hash);
        int moved = 0;
        finds = isFull = false;
        for (long next = 0; next <= request.Root.Numbers && !isFull; moved += _writer.Flush(seal: false) + TakeRevived())
        {
            Partition.Enter(partition);
            bool stops = false;
            for (int records = RecordsPerHold; next <= request.Root.Numbers && records > 0 && !stops; records--)
            {
                ulong* slot = Find(partition, key, request.Root, next);
                finds |= slot != null;
                stops = slot != null && !TryTakeRead(partition, slot, out isFull);
                next += stops ? 0 : 1;
            }
            Partition.Exit(partition);
            _writer.Runs.Advance(long.MaxValue);
        }
        return moved;
    }

    // A chunk by its place among the numbers, the root behind them; null if it is not in memory.
    private ulong* Find(Partition* partition, in KeyRef key, in TierRoot root, long next)
    {
        if (next == root.Numbers)
            return Bucket.Find(_core.Shape, partition, Shape.BucketOf(_core.Shape, partition, key.Hash), key);
        uint number = root[next];
        ulong hash = ChunkKey.Hash(_core, key.Hash, root.Owner, number);
        byte* bucket = Shape.BucketOf(_core.Shape, partition, hash);
        return Bucket.FindChunk(_core.Shape, partition, bucket, root.Owner, number, ChunkKey.InRoot(key, hash));
    }

    private bool TryTakeRead(Partition* partition, ulong* slot, out bool isFull)
    {
        Interlocked.And(ref *slot, ~IndexWord.FrequencyMask); // store.U1: readers raise it meanwhile, and it stays then
        return TryTake(partition, Shape.RecordOf(_core.Shape, *slot), out isFull);
    }

    // A guess, from above: small records are of 64 bytes.
    private long HoldsOfLap()
    {
        long segments = 0, extents = 0;
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            segments += _core.Shape->Partitions[i].Segments;
            extents += _core.Shape->Partitions[i].ExtentBytes / _core.Shape->RecordBytesMax;
        }
        return (segments * (1 + (_core.Shape->SegmentBytes / (RecordsPerHold * 64)))) + extents + (2 * _core.Shape->PartitionCount);
    }

    // One lock hold; true if the writer takes no more as things are. Segments and extents of the same age have their turn at the same time.
    private bool Hold(Partition* partition, ref Place place, out bool isFull)
    {
        isFull = false;
        Partition.Enter(partition);
        if (!IsStill(partition, place))
        {
            uint oldest = Oldest(partition);
            place = place with { Segment = oldest, Life = _core.Shape->Segments[oldest].Life, Offset = Segment.HeaderBytes };
        }
        if (place.Segment == 0 || partition->ExtentsHead == 0)
            place.ExtentsBehind = 0;
        bool takesExtents = partition->ExtentsHead != 0 && (place.Segment == 0 || place.ExtentsBehind > 0);
        bool stops = takesExtents ? TakeExtents(partition, ref place, out isFull)
            : place.Segment != 0 && TakeRecords(partition, ref place, out isFull);
        Partition.Exit(partition);
        return stops;
    }

    private bool TakeRecords(Partition* partition, ref Place place, out bool isFull)
    {
        isFull = false;
        bool stops = false, isThere = true;
        Segment* segment = _core.Shape->Segments + place.Segment;
        long limit = Moving + BytesPerHold;
        double share = 1.0 / partition->Segments;
        for (int records = RecordsPerHold; isThere && place.Offset < segment->Used && records > 0 && Moving < limit && !stops; records--)
        {
            byte* record = _core.Records.Address(place.Segment) + place.Offset;
            int bytes = Record.Capacity(record);
            stops = Record.Kind(record) != RecordKind.Padding && !TryTake(partition, record, out isFull);
            place.Offset += stops ? 0 : bytes;
            isThere = IsStill(partition, place); // with the last that goes back the segment is free
        }
        if (isThere && place.Offset < segment->Used)
            return stops;
        if (isThere)
            _core.Records.Renew(partition, place.Segment);
        place = new Place { ExtentsBehind = place.ExtentsBehind + share };
        return stops;
    }

    // False if the writer does not take it.
    private bool TryTake(Partition* partition, byte* record, out bool isFull)
    {
        isFull = false;
        long bytes = ColdRecord.BytesOf(record);
        bool isLong = bytes > _segments.RecordBytesMax;
        if (IsReserved(Record.Namespace(record)) || (isLong && (_onlyRevives || !_writer.Runs.Takes(record, bytes))))
            return true;
        KeyRef key = _core.KeyOf(record);
        byte* bucket = Shape.BucketOf(_core.Shape, partition, key.Hash);
        ulong* slot = Bucket.FindAddress(partition, bucket, (ulong)(record - _core.Shape->Base));
        Garnet.Common.Faults.Check.That(slot != null, "store.U4 a record that is not dead is named by its word");
        ulong word = Volatile.Read(ref *slot);
        if (IndexWord.Frequency(word) == 0)
        {
            if (TryRevive(partition, bucket, slot, record, key.Hash) || _onlyRevives)
                return true;
            return isLong ? TryBeginLong(partition, key.Hash, word, record)
                : _writer.TryStage(partition, key.Hash, word, record, out isFull);
        }
        Interlocked.CompareExchange(ref *slot, word - IndexWord.FrequencyOne, word); // store.U1: readers raise it meanwhile
        return true;
    }

    // store.C13
    private bool TryRevive(Partition* partition, byte* bucket, ulong* slot, byte* record, ulong hash)
    {
        if (!CleanCopy.TryFind(record, *slot, out ulong cold, out uint uses))
            return false;
        uint number = _segments.NumberOf(cold);
        long expireAtMs = Record.ExpireAtMs(record);
        if (!_segments.IsToBeRevived(number, uses, expireAtMs) || !CleanCopy.IsSound(record, _segments.PlaceOf(ColdAddress.Offset(cold))))
            return false;
        if (!_segments.TryRevive(number, uses, expireAtMs))
            return false;
        int bytes = (int)ColdRecord.BytesOf(record);
        ColdMove move = new(partition->Number, hash, *slot, cold, 0, bytes, _core.Tier!.TimedFromMs(record)) { IsClean = true };
        move.Commit(_core, partition, bucket, slot);
        _revived++;
        _revivedBytes += bytes;
        return true;
    }

    // False while another is being moved. Where there are too few segments for it, others may go all the same.
    private bool TryBeginLong(Partition* partition, ulong hash, ulong word, byte* record)
    {
        if (_writer.Runs.IsActive)
            return false;
        _writer.Runs.TryBegin(partition, hash, word, record);
        return true;
    }

    private bool TakeExtents(Partition* partition, ref Place place, out bool isFull)
    {
        isFull = false;
        for (int extents = ExtentsPerHold; extents > 0 && partition->ExtentsHead != 0; extents--)
        {
            uint page = partition->ExtentsHead;
            double share = (double)_core.Records.ExtentDescriptor(page)->Pages * Arena.PageBytes / partition->ExtentBytes;
            if (!TryTake(partition, _core.Records.ExtentAddress(page), out isFull))
                return true;
            place.ExtentsBehind -= share;
            if (partition->ExtentsHead == page)
                _core.Records.RenewExtent(partition, page); // else it has gone back
        }
        return false;
    }

    private bool IsStill(Partition* partition, in Place place)
    {
        Segment* segment = _core.Shape->Segments + place.Segment;
        return place.Segment != 0 && segment->Partition == partition->Number && IsWalked(place.Segment) && segment->Life == place.Life;
    }

    // It stands at the end of the list.
    private uint Oldest(Partition* partition)
    {
        uint oldest = 0;
        for (uint number = partition->SegmentsHead; number != 0; number = _core.Shape->Segments[number].Next)
        {
            if (IsWalked(number))
                oldest = number;
        }
        return oldest;
    }

    private bool IsWalked(uint number) =>
        _core.Shape->Segments[number].State == SegmentState.Full || (TakesActive
            && _core.Shape->Segments[number].State == SegmentState.Active);

    private bool IsReserved(uint ns) => ns < _core.Databases.Length && _core.Databases[ns] == NamespaceTable.Reserved;

    // How far the walk of a partition has come.
    private struct Place
    {
        /// <summary>The segment that is walked; 0: the oldest is next.</summary>
        public uint Segment;
        public uint Life;
        public int Offset;
        /// <summary>By what part of a round over all of them the walk of extents is behind that of segments.</summary>
        public double ExtentsBehind;
    }
}
