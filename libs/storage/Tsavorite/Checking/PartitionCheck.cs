namespace Tsavorite;

/// <summary>The walk of <see cref="StoreCheck"/> through one locked partition.</summary>
internal sealed unsafe class PartitionCheck
{
    private readonly StoreCore _core;
    private readonly Shape* _shape;
    private readonly Partition* _partition;
    private readonly List<string> _broken;
    private readonly Dictionary<uint, long> _segmentLive = [];
    private readonly Dictionary<uint, NamespaceCount> _counts = [];
    private readonly HashSet<string> _keys = [];
    private readonly HashSet<uint> _nodes = [];
    private readonly HashSet<ulong> _owners = [], _chunkOwners = [];
    private readonly ColdReads? _cold;
    private readonly Dictionary<uint, int> _coldLive;
    private long _live, _extents;
    private int _words, _extentRecords;

    public PartitionCheck(StoreCore core, Partition* partition, List<string> broken, ColdReads? cold, Dictionary<uint, int> coldLive)
    {
        _cold = cold;
        _coldLive = coldLive;
        _core = core;
        _shape = core.Shape;
        _partition = partition;
        _broken = broken;
    }

    /// <summary>Bytes of the arena's account that belong to the partition.</summary>
    public long UsedBytes { get; private set; }

    public void Run()
    {
        for (Orphan* orphan = _partition->Orphans; orphan != null; orphan = orphan->Next) _owners.Add(orphan->Owner);
        int segments = WalkIndex();
        Expect(_chunkOwners.IsSubsetOf(_owners), "chunks: each has a root, or waits for removal");
        WalkSegments();
        WalkExtents();
        Expect(segments == _partition->IndexSegments, "store.U12 index segments are counted");
        Expect(_words == _partition->Words, "store.U1 words are counted");
        Expect(_live == _partition->LiveBytes, "store.U4 live bytes equal the records that words name");
        Expect(_extents == _partition->ExtentBytes, "store.U4 extent bytes equal the runs that words name");
        Expect(_nodes.Count + _partition->SlabFreeNodes == _partition->SlabTaken - 1, "store.U1 every overflow node is free or reachable");
        Expect((_partition->Structure & 1) == _partition->Hidden, "store.U12 the structure is at rest");
        CompareCounts();
        UsedBytes = (long)segments * _shape->BucketsPerSegment * Bucket.Bytes + IndexSpace.SlabBytes(_partition)
            + _core.Index.DirectoryBytes(_partition)
            + (long)_partition->Segments * _shape->SegmentBytes + _extents + _partition->CountsMax * sizeof(NamespaceCount);
    }

    private void Expect(bool condition, string rule)
    {
        if (!condition)
            _broken.Add($"{rule} (partition {_partition->Number})");
    }

    private int WalkIndex()
    {
        int depth = IndexSpace.DepthOf(_partition), segments = 0;
        uint* entries = IndexSpace.Entries(_partition);
        for (uint entry = 0; entry < 1u << depth;)
        {
            IndexSegment* segment = _core.Index.Descriptor(entries[entry]);
            uint span = 1u << (depth - segment->Depth);
            Expect(entry % span == 0, "store.U12 a segment's entries are aligned");
            for (uint i = 0; i < span; i++) Expect(entries[entry + i] == entries[entry], "store.U12 a segment's entries agree");
            int words = 0;
            for (int i = 0; i < _shape->BucketsPerSegment; i++) words += WalkBucket(_core.Index.BucketAt(entries[entry], i));
            Expect(words == segment->Words, "store.U1 a segment's words are counted");
            segments++;
            entry += span;
        }
        return segments;
    }

    private int WalkBucket(byte* bucket)
    {
        Expect((*(uint*)bucket & 1) == 0, "store.U1 a bucket at rest has an even sequence");
        for (uint node = Bucket.Overflow(bucket); node != 0; node = (uint)*Bucket.Node(_partition, node))
            if (!_nodes.Add(node))
            {
                Expect(false, "store.U1 an overflow node is in one chain");
                return 0;
            }
        int words = 0;
        for (SlotWalk walk = new(_partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0)
                continue;
            words++;
            CheckWord(bucket, *walk.Slot);
        }
        _words += words;
        return words;
    }

    private void CheckWord(byte* bucket, ulong word)
    {
        bool isCold = IndexWord.IsCold(word);
        byte* record = isCold ? _core.RecordAt(word, _cold) : Shape.RecordOf(_shape, word);
        Expect(record != null, "store.U3 a word's address is in range");
        if (record == null)
            return;
        KeyRef key = _core.KeyOf(record);
        Expect(Shape.PartitionOf(_shape, key.Hash) == _partition && Shape.BucketOf(_shape, _partition, key.Hash) == bucket,
            "store.U4 a word stands where its key hashes to");
        Expect((word ^ Shape.TagOf(_shape, key.Hash)) >> IndexWord.TagShift == 0, "store.U4 a word's tag is its key's");
        Expect(_keys.Add(key.Namespace + ":" + Convert.ToHexString(key.Span)), "store.U4 a key has one word");
        Expect(Record.Kind(record) is not (RecordKind.None or RecordKind.Padding), "store.U4 a named record is alive");
        Expect(((word & IndexWord.TtlBit) != 0) == (Record.ExpireAtMs(record) != 0), "store.U4 a word's expiry bit is its record's");
        Expect(((word & IndexWord.InternalBit) != 0) == (Record.Kind(record) == RecordKind.Chunk),
            "store.U4 a word's internal bit is its record's");
        if (Record.Owner(record) != 0)
            _owners.Add(Record.Owner(record));
        bool retired = _partition->Counts[key.Namespace].Retired != 0;
        if (ChunkKey.Is(record) && !retired)
            _chunkOwners.Add(ChunkKey.Owner(key.Bytes));
        NamespaceCount count = _counts.GetValueOrDefault(key.Namespace);
        if ((word & IndexWord.InternalBit) != 0)
            count.Chunks++;
        else
        {
            count.Keys++;
            if ((word & IndexWord.TtlBit) != 0)
                count.Expiring++;
        }
        _counts[key.Namespace] = count;
        if (!isCold)
        {
            Weigh(record, word);
            return;
        }
        uint segment = _core.Tier!.Segments.NumberOf(word);
        _coldLive[segment] = _coldLive.GetValueOrDefault(segment) + 1;
        Expect(_core.Tier.MayHold(word, key.Namespace), "store.C2 a cold segment knows its namespace");
        _cold!.BeginStep();
    }

    // What is not reused holds what it held, whatever the segment is by now.
    private bool IsWhatItWas(byte* record, ulong word)
    {
        if (!CleanCopy.TryFind(record, word, out ulong cold, out uint uses))
            return *(uint*)record == 0 || CleanCopy.FieldBytes(record) != 0;
        ColdLayers segments = _core.Tier!.Segments;
        return segments[segments.NumberOf(cold)]->Uses != uses || CleanCopy.IsSound(record, segments.PlaceOf(ColdAddress.Offset(cold)));
    }

    private void Weigh(byte* record, ulong word)
    {
        Expect(IsWhatItWas(record, word), "store.C13 a record that has not changed since it came back has its checksum");
        bool isExtent = (Record.Flags(record) & Record.ExtentFlag) != 0;
        Expect(isExtent == ((word & IndexWord.TierMask) == IndexWord.Extent), "store.U4 a word's tier is its record's");
        long bytes = _core.Records.Capacity(record);
        _live += bytes;
        if (isExtent)
        {
            _extents += bytes;
            _extentRecords++;
            return;
        }
        uint segment = Shape.SegmentOf(_shape, IndexWord.Offset(word));
        _segmentLive[segment] = _segmentLive.GetValueOrDefault(segment) + bytes;
        Expect(_shape->Segments[segment].Partition == _partition->Number && _shape->Segments[segment].State != SegmentState.Free,
            "store.U4 a named record lies in a segment of its partition");
        long expireAtMs = Record.ExpireAtMs(record);
        Expect(expireAtMs == 0
            || (_shape->Segments[segment].MinExpiryMs <= expireAtMs && _partition->MinExpiryMs <= expireAtMs),
            "expiry: a segment knows its earliest");
    }

    private void WalkSegments()
    {
        int segments = 0, cleanable = 0;
        long tails = 0;
        uint previous = 0;
        for (uint number = _partition->SegmentsHead; number != 0; number = _shape->Segments[number].Next)
        {
            Segment* segment = _shape->Segments + number;
            segments++;
            Expect(segment->Previous == previous, "segments: the list is linked both ways");
            Expect(segment->LiveBytes == _segmentLive.GetValueOrDefault(number), "store.U4 a segment's live bytes equal its named records");
            Expect(segment->State == SegmentState.Draining == (_partition->Draining == number), "store.U13 the draining segment is known");
            Expect(segment->LiveBytes != 0 || segment->State != SegmentState.Full, "segments: a dead segment is freed");
            tails += segment->State == SegmentState.Active ? 0 : _shape->SegmentBytes - segment->Used;
            cleanable += _core.Records.IsCounted(segment) ? 1 : 0;
            _segmentLive.Remove(number);
            previous = number;
        }
        Expect(segments == _partition->Segments, "segments are counted");
        Expect(cleanable == _partition->Cleanable, "segments: those worth cleaning are counted");
        Expect(tails == _partition->TailBytes, "segments: what stayed free at the ends of those that are closed is counted");
        Expect(_segmentLive.Count == 0, "store.U4 every named record lies in a listed segment");
    }

    private void WalkExtents()
    {
        int extents = 0;
        for (uint page = _partition->ExtentsHead; page != 0; page = _core.Records.ExtentDescriptor(page)->Next) extents++;
        Expect(extents == _extentRecords, "store.U4 every extent is named once");
    }

    private void CompareCounts()
    {
        for (uint ns = 0; ns < _partition->CountsMax; ns++)
        {
            NamespaceCount kept = _partition->Counts[ns], should = _counts.GetValueOrDefault(ns);
            Expect(kept.Keys == should.Keys && kept.Expiring == should.Expiring && kept.Chunks == should.Chunks,
                $"counts of namespace {ns} equal its words");
        }
    }
}
