namespace Tsavorite;

/// <summary>
/// The store as it was at one moment, the cut, handed to a sink while everybody goes on writing: no copy of the process, nobody
/// stopped for longer than it takes to visit every partition's lock. One thread steps it.
/// Every bucket carries the low 8 bits of the number of the snapshot that last had it. The cut raises the number; who comes
/// first to a bucket then hands its records over and stamps it: a writer before its first change (into buffers), or the walker.
/// store.S1: a bucket whose stamp is not the snapshot's holds what it held at the cut, whatever movers relocated (store.U18).
/// store.S2: a bucket is handed over whole, chain included, and stamped, in one lock hold: exactly once.
/// store.S3: behind the walker's cursor all is stamped; splits copy the stamp to both halves, merges wait (store.U16).
/// store.S4: what writers save is bounded, see <see cref="SaveBuffers"/>.
/// store.S5: a partition walked to the end is stamped as a whole; so a whole snapshot leaves one stamp in all buckets, and numbers
/// may be compared by their low 8 bits as long as fewer than 256 have begun since the last whole one. Before that many were
/// abandoned, all buckets are stamped anew.
/// store.S6: what was taken to be handed over and was not is in no list any more: a snapshot whose step threw makes no other, and is never whole.
/// An index segment is only taken by a split, so every fresh bucket has its stamp from an older one.
/// </summary>
public sealed unsafe class StoreSnapshot : IDisposable
{
    private const int SavedPerStep = 16;
    private readonly StoreCore _core;
    private readonly SaveBuffers _buffers;
    private readonly SnapshotWalk _walk;
    private readonly ColdReferences? _cold;
    private readonly ColdNames? _names;
    private readonly int _holdsPerStep;
    private int[] _databases;
    private HashSet<ulong>? _orphaned;
    private long _records, _bytes, _saved, _cutUs, _recordsAtCut;
    private readonly bool _isOrdered;
    private int _told;
    private volatile SnapshotState _state;
    private bool _disposed, _isCut;

    internal StoreSnapshot(StoreCore core, SnapshotOptions options)
    {
        _core = core;
        _buffers = new SaveBuffers(options, core.Shape->PartitionCount);
        _walk = new SnapshotWalk(core, this, options);
        if (core.Tier is { } tier)
            _cold = new ColdReferences(this, tier);
        if (options.NamesSegments && core.Tier is { Names.MayName: true })
            _names = new ColdNames(core, core.Tier);
        _holdsPerStep = options.HoldsPerStep;
        _isOrdered = options.PartitionsAtOnce == 1;
        _databases = new int[core.Databases.Length * 2];
    }

    /// <summary>The log's last batch before the cut: all up to it is in the snapshot, the rest is not. 0 without a log.</summary>
    public ulong Batch { get; private set; }

    /// <summary>Seed of the store's key hash.</summary>
    public ulong HashSeed => _core.HashSeed;

    /// <summary>Partitions of the store.</summary>
    public int Partitions => _core.Shape->PartitionCount;

    internal long MemoryLimitBytes => _core.Arena.Limit;

    /// <summary>How the snapshot stands.</summary>
    public SnapshotState State => _state;

    /// <summary>Figures of the moment; may be asked for by any thread.</summary>
    public SnapshotFigures Figures => new()
    {
        Records = Volatile.Read(ref _records),
        RecordsAtCut = _recordsAtCut,
        Bytes = Volatile.Read(ref _bytes),
        SavedRecords = Volatile.Read(ref _saved),
        BufferedBytes = _buffers.Bytes,
        PartitionsDone = _walk.Done,
        PartitionsTotal = Partitions,
        CutUs = _cutUs,
    };

    internal bool Behind => _buffers.Behind && _state == SnapshotState.Running;

    internal long BufferedBytes => _buffers.Bytes;

    /// <summary>
    /// Hands about a block's worth of records to the sink, taking one partition lock at a time for some microseconds (longer only
    /// for a record of many kilobytes). False once no step is to be made any more: <see cref="State"/> says whether the snapshot
    /// is whole. What the sink throws, or a record that cannot be read, goes through, and the snapshot is abandoned (store.S6).
    /// </summary>
    public bool Step(ISnapshotSink sink)
    {
        ArgumentNullException.ThrowIfNull(sink);
        if (_state != SnapshotState.Running)
            return false;
        bool hasStepped = false;
        try
        {
            bool more = HandOut(sink);
            hasStepped = true;
            return more;
        }
        finally
        {
            if (!hasStepped)
                End(SnapshotState.Abandoned);
        }
    }

    private bool HandOut(ISnapshotSink sink)
    {
        HandOutSaved(sink, SavedPerStep);
        for (int i = 0; i < _holdsPerStep && !_walk.AtEnd; i++)
        {
            if (_walk.Hold())
                continue;
            _walk.Flush(sink);
            break;
        }
        if (_state != SnapshotState.Running)
            return false;
        _cold?.HandOut(sink);
        _names?.HandOut(this, (INamingSink)sink);
        if (sink is IPartitionSink partitions)
            Tell(partitions);
        if (!_walk.AtEnd)
            return true;
        _walk.Flush(sink);
        HandOutSaved(sink, int.MaxValue);
        _cold?.HandOut(sink);
        _names?.End(this, (INamingSink)sink);
        End(SnapshotState.Whole);
        return false;
    }

    // The walker goes through one partition after the other, and its saved records are among the full blocks (store.S5).
    private void Tell(IPartitionSink sink)
    {
        int done = _walk.Done;
        if (done == _told)
            return;
        if (!_isOrdered)
            throw new ArgumentException("A sink that is told of partitions needs PartitionsAtOnce 1.", nameof(sink));
        _walk.Flush(sink);
        HandOutSaved(sink, int.MaxValue);
        _cold?.HandOut(sink);
        while (_told < done) sink.PartitionDone(_told++);
    }

    /// <summary>The partition that a key of the cut lies in.</summary>
    internal int PartitionOf(byte* key, int length, int database)
    {
        ulong hash = KeyHash.Mix(_core.HashOf(key, length), (uint)Array.IndexOf(_databases, database));
        return Shape.PartitionOf(_core.Shape, hash)->Number;
    }

    /// <summary>Ends the snapshot; before it is whole, this abandons it: writers save no more and what they saved is dropped.</summary>
    public void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        for (int i = 0; i < Partitions; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            Partition.Enter(partition);
            partition->Snapshot = 0;
            Partition.Exit(partition);
        }
        if (_state == SnapshotState.Running)
            End(SnapshotState.Abandoned);
        _core.Snapshots.Leave(this);
        _buffers.Dispose();
        _walk.Dispose();
        _cold?.Dispose();
        if (_isCut)
            _core.Tier?.Segments.Release();
    }

    /// <summary>The cut: every partition is locked, and the log's batch ends here.</summary>
    internal void Cut(ulong number)
    {
        _core.Tier?.Segments.Hold();
        _isCut = true;
        int[] databases = _core.Databases;
        if (databases.Length > _databases.Length)
            _databases = new int[databases.Length];
        Array.Fill(_databases, -1, databases.Length, _databases.Length - databases.Length);
        databases.CopyTo(_databases, 0);
        for (int i = 0; i < Partitions; i++)
        {
            _core.Shape->Partitions[i].Snapshot = Partition.SnapshotRuns | (byte)number;
            _recordsAtCut += _core.Shape->Partitions[i].Words;
            for (Orphan* orphan = _core.Shape->Partitions[i].Orphans; orphan != null; orphan = orphan->Next)
                (_orphaned ??= []).Add(orphan->Owner);
        }
    }

    internal void Begun(ulong batch, long cutUs) => (Batch, _cutUs) = (batch, cutUs);

    /// <summary>False for records of ids given up and chunks whose root was gone before the cut; else the database it stood in then.</summary>
    internal bool Includes(byte* record, out int database)
    {
        uint ns = Record.Namespace(record);
        Garnet.Common.Faults.Check.That(ns < (uint)_databases.Length, "store.S1 a record of the cut has an id of the cut");
        database = _databases[ns];
        if (_orphaned != null && ChunkKey.Is(record) && _orphaned.Contains(ChunkKey.Owner(Record.Key(record))))
            return false;
        return database >= 0;
    }

    /// <summary>store.U18: saves a bucket of the cut before its first change, under the partition's lock.</summary>
    internal void Save(Partition* partition, byte* bucket)
    {
        byte stamp = (byte)partition->Snapshot;
        if (Bucket.Stamp(bucket) == stamp || _state != SnapshotState.Running)
            return;
        int saved = 0;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || NotesCold(partition, bucket, *walk.Slot))
                continue;
            byte* record = _core.Shape->Base + IndexWord.Offset(*walk.Slot);
            if (!Includes(record, out int database))
                continue;
            byte* to = _buffers.Reserve(partition->Number, SnapshotRecord.BytesOf(record));
            if (to == null)
            {
                End(SnapshotState.OutOfRoom); // store.S4
                return;
            }
            SnapshotRecord.Write(to, record, database);
            saved++;
        }
        Bucket.SetStamp(bucket, stamp); // store.S2
        if (saved != 0)
            Interlocked.Add(ref _saved, saved);
    }

    /// <summary>The segments that it names; whole, it hands out what is in them only in this way.</summary>
    internal uint[] NamedSegments => _names?.Segments ?? [];

    /// <summary>The database that the namespace stood for at the cut, -1 if it was given up.</summary>
    internal int DatabaseOf(uint ns) => _databases[ns];

    /// <summary>True, and noted, if the word's record lies on the tier; the partition is locked.</summary>
    internal bool NotesCold(Partition* partition, byte* bucket, ulong word)
    {
        if (!IndexWord.IsCold(word))
            return false;
        long ns = _core.Tier!.NamespaceOf(word);
        if (ns >= 0 && _databases[ns] < 0)
            return true; // given up before the cut
        // Whether a piece is one whose root was gone can be seen from it only.
        bool isKnown = _orphaned == null || (word & IndexWord.InternalBit) == 0;
        if (_names == null || !isKnown || !_names.TryNote(partition, bucket, word))
            _cold!.Add(word);
        return true;
    }

    /// <summary><see cref="Save"/> for the walker, with a bucket that does not fit its block. Always true.</summary>
    internal bool SaveLarge(Partition* partition, byte* bucket)
    {
        Save(partition, bucket);
        _buffers.Close(partition->Number);
        return true;
    }

    /// <summary>store.S5: every bucket of the partition is stamped, under its lock: writers save no more, merges may go on.</summary>
    internal void Finish(Partition* partition)
    {
        partition->Snapshot = 0;
        _buffers.Close(partition->Number);
    }

    internal void CountOut(int records, long bytes)
    {
        Volatile.Write(ref _records, _records + records);
        Volatile.Write(ref _bytes, _bytes + bytes);
    }

    private void HandOutSaved(ISnapshotSink sink, int blocks)
    {
        for (; blocks > 0; blocks--)
        {
            SavedBlock* block = _buffers.TakeFull();
            if (block == null)
                return;
            try
            {
                sink.Write(new ReadOnlySpan<byte>(SavedBlock.Start(block), block->Used), block->Records);
                CountOut(block->Records, block->Used);
            }
            finally
            {
                _buffers.Return(block);
            }
        }
    }

    private void End(SnapshotState state)
    {
        _state = state;
        if (state == SnapshotState.Whole)
            _core.Snapshots.Whole();
    }
}
