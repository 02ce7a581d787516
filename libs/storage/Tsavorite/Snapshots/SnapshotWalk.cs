using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Tsavorite;

/// <summary>
/// The walker's place and its block. Goes through the buckets of one partition after the other in the order of hashes; what is not
/// stamped yet is encoded and stamped in the same lock hold. S3: everything behind the cursor is stamped, and stays so,
/// because a split copies the stamp.
/// </summary>
internal sealed unsafe class SnapshotWalk : IDisposable
{
    /// <summary>Bytes of a block, unless a single record is larger.</summary>
    public const int BlockBytes = 64 << 10;
    // U5: microseconds of work, together with the number of buckets.
    private const int BytesPerHold = 16 << 10;
    private readonly StoreCore _core;
    private readonly StoreSnapshot _snapshot;
    private readonly int _bucketsPerHold;
    private byte* _block = (byte*)NativeMemory.Alloc(BlockBytes);
    private int _used, _records;
    private BucketCursor _cursor;
    private int _partition;

    public SnapshotWalk(StoreCore core, StoreSnapshot snapshot, int bucketsPerHold)
    {
        _core = core;
        _snapshot = snapshot;
        _bucketsPerHold = bucketsPerHold;
    }

    /// <summary>Partitions walked to the end.</summary>
    public int Done => Volatile.Read(ref _partition);

    public bool AtEnd => _partition == _core.Shape->PartitionCount;

    /// <summary>
    /// One lock hold. False if the block must be handed over first because the next bucket does not fit behind what it holds.
    /// </summary>
    public bool Hold()
    {
        Partition* partition = _core.Shape->Partitions + _partition;
        Prefetch(partition);
        int usedBefore = _used;
        bool fits = true;
        Partition.Enter(partition);
        for (int i = 0; i < _bucketsPerHold && !_cursor.AtEnd && _used - usedBefore < BytesPerHold; i++)
        {
            fits = Take(partition, _cursor.Current(_core, partition));
            if (!fits) break;
            _cursor.MoveOn(_core, partition);
        }
        bool atEnd = _cursor.AtEnd;
        if (atEnd) _snapshot.Finish(partition);
        Partition.Exit(partition);
        if (!atEnd) return fits;
        _cursor = default;
        Volatile.Write(ref _partition, _partition + 1);
        return true;
    }

    /// <summary>Hands the block to the sink: any number of whole records.</summary>
    public void Flush(ISnapshotSink sink)
    {
        byte* next = _block, end = _block + _used;
        int records = _records;
        _used = _records = 0;
        if (records == 0) return;
        sink.Write(new ReadOnlySpan<byte>(next, (int)(end - next)), records);
        _snapshot.CountOut(records, end - next);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        NativeMemory.Free(_block);
        _block = null;
    }

    // False if the block has too little room left. A bucket larger than a whole block goes the way of those saved by writers.
    private bool Take(Partition* partition, byte* bucket)
    {
        byte stamp = (byte)partition->Snapshot;
        if (Bucket.Stamp(bucket) == stamp) return true;
        long bytes = 0;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if (*walk.Slot != 0 && _snapshot.Includes(RecordAt(*walk.Slot), out _)) bytes += SnapshotRecord.BytesOf(RecordAt(*walk.Slot));
        if (bytes > BlockBytes) return _snapshot.SaveLarge(partition, bucket);
        if (bytes > BlockBytes - _used) return false;
        byte* to = _block + _used;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || !_snapshot.Includes(RecordAt(*walk.Slot), out int database)) continue;
            to += SnapshotRecord.Write(to, RecordAt(*walk.Slot), database);
            _records++;
        }
        _used = (int)(to - _block);
        Bucket.SetStamp(bucket, stamp);
        return true;
    }

    private byte* RecordAt(ulong word) => _core.Shape->Base + IndexWord.Offset(word);

    // Without the lock, which is free for others meanwhile: a hint, never wrong.
    private void Prefetch(Partition* partition)
    {
        if (!Sse.IsSupported) return;
        byte* bucket = _cursor.Peek(_core, partition, out int buckets);
        for (int i = Math.Min(buckets, _bucketsPerHold); i > 0; i--, bucket += Bucket.Bytes)
        {
            for (int word = 1; word <= Bucket.Words; word++)
            {
                byte* record = RecordAt(((ulong*)bucket)[word]);
                Sse.Prefetch0(record);
                Sse.Prefetch0(record + 64);
            }
        }
    }
}
