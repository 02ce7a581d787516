using System.Runtime.Intrinsics.X86;
using Garnet.Common;

namespace Tsavorite;

/// <summary>
/// The walker's places and its block. Goes through the buckets of each partition in the order of hashes; what is not stamped yet is
/// encoded and stamped in the same lock hold. Everything behind a partition's cursor is stamped, and stays so, because a
/// split copies the stamp (store.S3). Takes turns among a few partitions: a writer that meets the walker waits for one hold and
/// then finds the lock free, where it would have to win a race against a walker that came back at once.
/// </summary>
internal sealed unsafe class SnapshotWalk : IDisposable
{
    /// <summary>Bytes of a block, unless a single record is larger.</summary>
    public const int BlockBytes = 64 << 10;
    // store.U5: microseconds of work, together with the number of buckets.
    private const int BytesPerHold = 16 << 10;
    private readonly StoreCore _core;
    private readonly StoreSnapshot _snapshot;
    private readonly int _bucketsPerHold, _turns;
    private readonly NativeArray<byte> _block = new(BlockBytes);
    private int _used, _records;
    private readonly BucketCursor[] _cursors;
    private int _first, _turn, _done;

    public SnapshotWalk(StoreCore core, StoreSnapshot snapshot, SnapshotOptions options)
    {
        _core = core;
        _snapshot = snapshot;
        _bucketsPerHold = options.BucketsPerHold;
        _turns = options.PartitionsAtOnce;
        _cursors = new BucketCursor[_turns];
    }

    /// <summary>Partitions walked to the end.</summary>
    public int Done => Volatile.Read(ref _done);

    public bool AtEnd => _done == _core.Shape->PartitionCount;

    /// <summary>
    /// One lock hold. False if the block must be handed over first because the next bucket does not fit behind what it holds.
    /// </summary>
    public bool Hold()
    {
        Partition* partition = NextTurn();
        ref BucketCursor cursor = ref _cursors[_turn];
        Prefetch(partition, cursor);
        int usedBefore = _used;
        bool fits = true;
        Partition.Enter(partition);
        for (int i = 0; i < _bucketsPerHold && !cursor.AtEnd && _used - usedBefore < BytesPerHold; i++)
        {
            fits = Take(partition, cursor.Current(_core, partition));
            if (!fits)
                break;
            cursor.MoveOn(_core, partition);
        }
        bool atEnd = cursor.AtEnd;
        if (atEnd)
            _snapshot.Finish(partition);
        Partition.Exit(partition);
        if (atEnd)
            Volatile.Write(ref _done, _done + 1);
        return fits;
    }

    /// <summary>Hands the block to the sink: any number of whole records.</summary>
    public void Flush(ISnapshotSink sink)
    {
        byte* next = _block.Items, end = _block.Items + _used;
        int records = _records;
        _used = _records = 0;
        if (records == 0)
            return;
        sink.Write(new ReadOnlySpan<byte>(next, (int)(end - next)), records);
        _snapshot.CountOut(records, end - next);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _block.Dispose();
    }

    // False if the block has too little room left. A bucket larger than a whole block goes the way of those saved by writers.
    private bool Take(Partition* partition, byte* bucket)
    {
        byte stamp = (byte)partition->Snapshot;
        if (Bucket.Stamp(bucket) == stamp)
            return true;
        long bytes = 0;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if (*walk.Slot != 0 && !IndexWord.IsCold(*walk.Slot) && _snapshot.Includes(RecordAt(*walk.Slot), out _))
                bytes += SnapshotRecord.BytesOf(RecordAt(*walk.Slot));
        if (bytes > BlockBytes)
            return _snapshot.SaveLarge(partition, bucket);
        if (bytes > BlockBytes - _used)
            return false;
        byte* to = _block.Items + _used;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || _snapshot.NotesCold(partition, bucket, *walk.Slot)
                || !_snapshot.Includes(RecordAt(*walk.Slot), out int database))
                continue;
            to += SnapshotRecord.Write(to, RecordAt(*walk.Slot), database);
            _records++;
        }
        _used = (int)(to - _block.Items);
        Bucket.SetStamp(bucket, stamp);
        return true;
    }

    // The next partition of those that take turns which has buckets left; new ones when all are done. There is one: not at the end.
    private Partition* NextTurn()
    {
        int turns = Math.Min(_turns, _core.Shape->PartitionCount);
        if (_done == _first + turns)
        {
            _first += turns;
            Array.Clear(_cursors);
        }
        do _turn = (_turn + 1) % turns;
        while (_cursors[_turn].AtEnd);
        return _core.Shape->Partitions + _first + _turn;
    }

    private byte* RecordAt(ulong word) => _core.Shape->Base + IndexWord.Offset(word);

    // Without the lock, which is free for others meanwhile: a hint, never wrong.
    private void Prefetch(Partition* partition, in BucketCursor cursor)
    {
        if (!Sse.IsSupported)
            return;
        byte* bucket = cursor.Peek(_core, partition, out int buckets);
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
