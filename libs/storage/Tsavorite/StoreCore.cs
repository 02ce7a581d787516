using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// What sessions and movers share: the shape, the spaces, the hooks, and the changes that are not an operation's own
/// business (removal, relocation, counting). All under the partition's lock.
/// Every logical change passes the log before the lock is released (store.U7).
/// </summary>
internal sealed unsafe class StoreCore : IDisposable
{
    private readonly Arena _arena;
    private readonly List<nint> _oldCounts = [];

    public readonly Shape* Shape;
    public readonly IndexSpace Index;
    public readonly RecordSpace Records;
    public readonly SegmentPool Segments;
    public readonly SnapshotNumbers Snapshots;
    /// <summary>Where records go that nobody reads; null: nowhere.</summary>
    public readonly ColdTier? Tier;
    /// <summary>Null unless somebody wants to know which batch a change is in.</summary>
    public readonly ChangeSketch? Sketch;
    public readonly ulong HashSeed, HashMask;
    public IWriteLog? Log;
    /// <summary>True when a log or an observer is set: the one branch of a change without either.</summary>
    public bool Hooked;
    /// <summary>Roots that are gone while some of their chunks are not, of all partitions.</summary>
    public int Orphans;
    /// <summary>Database number by namespace id, -1 for an id given up: what the log says instead of the id.</summary>
    public int[] Databases = [];
    private readonly Lock _hookGate = new(); // of the two hooks: what both come to is worked out with neither changing
    private volatile IKeyObserver? _observer;
    // The thread that holds every partition's lock, 0 for none; changed by it only.
    private int _owner;
    private int _many; // taken by who has all partitions, or takes them as they come
    private HeldPartitions? _step; // that of the owner
    private bool _logging, _ordered;
    private ulong _owners = (ulong)Random.Shared.NextInt64() * 2;

    public StoreCore(StoreSettings settings, Arena arena)
    {
        _arena = arena;
        Log = settings.Log;
        Logging = Log != null;
        HashSeed = settings.HashSeed != 0 ? settings.HashSeed : (ulong)Random.Shared.NextInt64() | 1;
        HashMask = settings.HashMask;
        Shape = (Shape*)NativeMemory.AlignedAlloc((nuint)sizeof(Shape), 64);
        *Shape = StoreShape.Derive(settings, arena);
        Segments = new SegmentPool(arena, Shape->SegmentBytes);
        Shape->Segments = Segments.Segments;
        IndexPool pool = new(arena, Shape->BucketsPerSegment * Bucket.Bytes);
        Index = new IndexSpace(Shape, pool);
        Records = new RecordSpace(Shape, Segments, new ExtentPool(arena));
        Snapshots = new SnapshotNumbers(this);
        if (settings.Tier is { } medium)
        {
            Tier = new ColdTier(medium, settings.TierSegmentBytes, settings.TierId, settings.MonotonicUs)
            {
                Observer = settings.TierObserver, ValueCheck = settings.ValueCheck,
                Sessions = settings.TierSessions, ProcessBytesMax = settings.ProcessBytesMax,
                ResidentBytes = settings.ResidentBytes,
            };
            Tier.LimitReads(settings.MemoryLimitBytes);
        }

        arena.Take(Tier?.Segments.TableBytes ?? 0, Claim.Forced);
        if (settings.TellsBatches)
            Sketch = new ChangeSketch(Shape->PartitionCount);
        arena.Take(Sketch?.Bytes ?? 0, Claim.Forced);
        OpenPartitions(arena);
    }

    public Arena Arena => _arena;

    /// <summary>Whether changes pass the log: false without one, and while a log is read back.</summary>
    public bool Logging
    {
        get => _logging;
        set
        {
            lock (_hookGate)
            {
                _logging = value && Log != null;
                Hook();
            }
        }
    }

    /// <summary>Who is told of changes, null for nobody; writers see the change with their next lock.</summary>
    public IKeyObserver? Observer
    {
        get => _observer;
        set
        {
            lock (_hookGate)
            {
                _observer = value;
                Hook();
            }
        }
    }

    /// <inheritdoc cref="RecordSpace.TakeBeside"/>
    public bool TakeBeside(long bytes) => Records.TakeBeside(bytes);

    /// <inheritdoc cref="RecordSpace.GiveBeside"/>
    public void GiveBeside(long bytes) => Records.GiveBeside(bytes);

    /// <summary>Bytes of outgrown count arrays, kept for readers without a lock.</summary>
    public long OldCountBytes { get; private set; }

    public KeyRef KeyOf(byte* record)
    {
        byte* key = Record.Key(record);
        int length = Record.KeyBytes(record);
        uint ns = Record.Namespace(record);
        if (ChunkKey.Is(record))
            return ChunkKey.Of(this, key, length, ns);
        return new KeyRef(key, length, ns, KeyHash.Mix(HashOf(key, length), ns));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong HashOf(byte* key, int length) => KeyHash.Of(key, length, HashSeed) & HashMask;

    /// <summary>The namespace's counts in the partition; makes room for a new id.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public NamespaceCount* CountOf(Partition* partition, uint ns) =>
        ns < partition->CountsMax ? partition->Counts + ns : GrowCounts(partition, ns);

    /// <summary>A word came or went: the key counts.</summary>
    public void Count(Partition* partition, uint ns, ulong word, int by)
    {
        CountOf(partition, ns)->Add(word, by);
        partition->CountChanges++;
    }

    /// <summary>
    /// store.U18: stands before every logical change of a bucket: what a running snapshot wants of it is saved. One branch without one.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void SaveFirst(Partition* partition, byte* bucket)
    {
        if (IsUnsaved(partition, bucket))
            Snapshots.Running!.Save(partition, bucket);
    }

    /// <summary>The same before a change of a record that stays where it is.</summary>
    public void SaveFirst(Partition* partition, byte* bucket, byte* record)
    {
        SaveFirst(partition, bucket);
        Records.BreakCopy(record);
    }

    /// <summary>True if a running snapshot still wants the bucket as it is.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsUnsaved(Partition* partition, byte* bucket) => partition->Snapshot != 0
        && Bucket.Stamp(bucket) != (byte)partition->Snapshot && !StoreTestHooks.Has(PlantedFault.ForgetBucketStamp);

    /// <summary>Removes the record a slot names. Key bytes may lie in the record itself: hooks have run before it dies.</summary>
    public void Remove(Partition* partition, byte* bucket, ulong* slot)
    {
        ulong word = *slot;
        byte* record = Shape->Base + IndexWord.Offset(word);
        SaveFirst(partition, bucket);
        uint ns = Record.Namespace(record);
        // What lies in a namespace given up is removed record by record.
        if (Record.Owner(record) != 0 && CountOf(partition, ns)->Retired == 0)
            Adopt(partition, Orphan.Of(record), true);
        Count(partition, ns, word, -1);
        Bucket.BeginWrite(bucket);
        Index.Remove(partition, bucket, slot);
        Records.Kill(partition, record);
        Bucket.EndWrite(bucket);
    }

    /// <summary>
    /// Takes a record back to memory from the tier, under the partition's lock: <paramref name="image"/> is what the slot's word names. Where it lies
    /// then; null if there is no address space. What it holds does not change. It is counted among the promoted or the returned.
    /// </summary>
    public byte* TakeBack(Partition* partition, byte* bucket, ulong* slot, byte* image, long nowMs, TierCount why)
    {
        long length = ColdRecord.BytesOf(image);
        bool keepsPlace = CleanCopy.IsKept(Tier!, image, why);
        int bytes = Record.Round(length + (keepsPlace ? Record.FieldBytes : 0));
        byte* record = Records.Append(partition, bytes, new NewRecord { ExpireAtMs = Record.ExpireAtMs(image) }, nowMs, force: true);
        if (record == null)
            return null;
        ulong offset = (ulong)(record - Shape->Base), old = *slot;
        CleanCopy.Write(record, image, (int)length, keepsPlace ? CleanCopy.PlaceOf(Tier!, old) : 0);
        bool isExtent = offset >= (ulong)_arena.ExtentsStart;
        if (isExtent)
            record[5] |= Record.ExtentFlag;
        ulong place = (isExtent ? IndexWord.Extent : IndexWord.Dram) | offset >> 3;
        Bucket.BeginWrite(bucket);
        Volatile.Write(ref *slot, (old & ~(IndexWord.AddressMask | IndexWord.TierMask)) | place);
        Bucket.EndWrite(bucket);
        Tier!.Segments.Died(old);
        Tier.Count(why);
        Tier.Count(why == TierCount.Promoted ? TierCount.PromotedBytes : TierCount.ReturnedBytes, length);
        return record;
    }

    /// <summary>A look has come to a cold record, whose partition is locked: true if it was read often enough to come back.</summary>
    public bool IsToBePromoted(ulong* slot, byte* image)
    {
        ulong word = *slot;
        if (Tier!.Gate.Admits(word, _arena, ColdRecord.BytesOf(image), isHeld: false))
            return true;
        if (IndexWord.Frequency(word) < 3)
            Interlocked.CompareExchange(ref *slot, word + IndexWord.FrequencyOne, word);
        return false;
    }

    /// <summary><see cref="TakeBack"/> in the middle of an edit, which cannot do without; much more address space is reserved than may be used.</summary>
    public byte* MustTakeBack(Partition* partition, byte* bucket, ulong* slot, byte* image, long nowMs, TierCount why)
    {
        byte* record = TakeBack(partition, bucket, slot, image, nowMs, why);
        Garnet.Common.Faults.Check.That(record != null, "store.C5 there is address space for a record that comes back");
        return record;
    }

    /// <summary>The record that a word names, in memory or fetched, which may take a read; the partition is locked, the caller no reactor.</summary>
    public byte* RecordAt(ulong word, ColdReads? cold)
    {
        if (!IndexWord.IsCold(word))
            return Shape->Base + IndexWord.Offset(word);
        byte* record = cold!.Record(word);
        if (record == null)
            cold.Fetch(mayThrow: false);
        return record != null ? record : cold.Record(word);
    }

    /// <summary>Removes a cold record, <paramref name="image"/> being what it holds: logged as the built-in deletion.</summary>
    public void RemoveColdUnasked(Partition* partition, byte* bucket, ulong* slot, in KeyRef key, byte* image, KeyChange change)
    {
        Announce(partition, key, change);
        bool hasChunks = Record.Owner(image) != 0 && CountOf(partition, key.Namespace)->Retired == 0;
        if (hasChunks)
            Adopt(partition, Orphan.Of(image), true);
        RemoveCold(partition, bucket, slot, key.Namespace);
    }

    /// <summary>Removes a cold record that has no chunks, or whose chunks go too.</summary>
    public void RemoveCold(Partition* partition, byte* bucket, ulong* slot, uint ns)
    {
        ulong word = *slot;
        SaveFirst(partition, bucket);
        Count(partition, ns, word, -1);
        Bucket.BeginWrite(bucket);
        Index.Remove(partition, bucket, slot);
        Bucket.EndWrite(bucket);
        Tier!.Segments.Died(word);
    }

    /// <summary>Lists chunks whose root is gone for removal in the background; or drops the note if the root has stayed after all.</summary>
    public void Adopt(Partition* partition, Orphan* orphan, bool gone)
    {
        if (!gone)
        {
            Orphan.Free(orphan);
            return;
        }
        Interlocked.Increment(ref Orphans);
        orphan->Next = partition->Orphans;
        Volatile.Write(ref *(nint*)&partition->Orphans, (nint)orphan);
        // Those before have woken them, and they come back while there are some: a wake costs as much as a small COPY.
        if (orphan->Next == null)
            _arena.WakeMovers();
    }

    /// <summary>A number that no root has had before; not to be foreseen.</summary>
    public ulong NextOwner()
    {
        ulong mixed = Interlocked.Increment(ref _owners) * KeyHash.NamespaceFactor;
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
        return (mixed ^ mixed >> 31) | 1;
    }

    /// <summary>Removes a record that no command asked to remove: logged as the built-in deletion.</summary>
    public void RemoveUnasked(Partition* partition, byte* bucket, ulong* slot, in KeyRef key, KeyChange change)
    {
        Announce(partition, key, change);
        Remove(partition, bucket, slot);
    }

    // Its deletion, which no command asked for, to the log and to whoever watches keys.
    private void Announce(Partition* partition, in KeyRef key, KeyChange change)
    {
        if (Hooked)
        {
            if (_logging && !StoreTestHooks.Has(PlantedFault.SkipLogOfExpiry))
                LogDeletion(partition, key);
            Observer?.OnChange(key, change);
        }
        if (change == KeyChange.Expired)
            partition->ExpiredKeys++;
        else if (change == KeyChange.Evicted)
            partition->EvictedKeys++;
    }

    /// <summary>Writes header, fields and key of a fresh record; returns the word that will name it.</summary>
    public ulong Fill(byte* record, byte flags, in KeyRef key, in NewRecord next, int slackUnits)
    {
        ulong offset = (ulong)(record - Shape->Base);
        bool isExtent = offset >= (ulong)_arena.ExtentsStart;
        if (isExtent)
            flags = Record.FlagsInExtent(flags, next.Kind);
        Record.WriteHeader(record, flags, key, next, slackUnits);
        new ReadOnlySpan<byte>(key.Bytes, key.Length).CopyTo(new Span<byte>(Record.Key(record), key.Length));
        return IndexWord.Make(Tsavorite.Shape.TagOf(Shape, key.Hash), offset, isExtent ? IndexWord.Extent : IndexWord.Dram, next);
    }

    /// <summary>
    /// Copies a live record of the draining segment elsewhere and lets its word name the copy. The logical content
    /// does not change. False if there is no room.
    /// </summary>
    public bool Relocate(Partition* partition, byte* record, long nowMs)
    {
        KeyRef key = KeyOf(record);
        byte* bucket = Tsavorite.Shape.BucketOf(Shape, partition, key.Hash);
        ulong* slot = Bucket.FindAddress(partition, bucket, (ulong)(record - Shape->Base));
        Garnet.Common.Faults.Check.That(slot != null, "store.U4 a record that is not dead is named by its word");
        int bytes = Record.Capacity(record);
        NewRecord next = new() { ExpireAtMs = Record.ExpireAtMs(record) };
        byte* copy = Records.Append(partition, bytes, next, nowMs, force: true);
        if (copy == null)
            return false;
        Buffer.MemoryCopy(record, copy, bytes, bytes);
        if (!StoreTestHooks.Has(PlantedFault.RelocateUnseen))
            Bucket.BeginWrite(bucket);
        Volatile.Write(ref *slot, (*slot & ~IndexWord.AddressMask) | (ulong)(copy - Shape->Base) >> 3);
        Records.Kill(partition, record);
        if (!StoreTestHooks.Has(PlantedFault.RelocateUnseen))
            Bucket.EndWrite(bucket);
        partition->CleanedBytes += bytes;
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        for (int i = 0; i < Shape->PartitionCount; i++)
        {
            NativeMemory.Free(Shape->Partitions[i].Counts);
            for (Orphan* orphan; (orphan = Shape->Partitions[i].Orphans) != null;)
            {
                Shape->Partitions[i].Orphans = orphan->Next;
                Orphan.Free(orphan);
            }
        }
        Sketch?.Dispose();
        Tier?.Dispose();
        foreach (nint counts in _oldCounts) NativeMemory.Free((void*)counts);
        Index.Dispose();
        NativeMemory.AlignedFree(Shape->Partitions);
        NativeMemory.AlignedFree(Shape);
    }

    /// <summary>
    /// Writes an operation to the log. A change to a namespace that was given up since the caller looked it up counts
    /// as done just before that: nothing is written. Returns the batch it is in, 0 for none.
    /// </summary>
    public ulong LogChange<T>(Partition* partition, in KeyRef key, ref T operation, out int bytes) where T : struct, ILogged
    {
        bytes = 0;
        ulong batch = BatchOf(partition);
        int database = Databases[key.Namespace];
        if (database < 0)
            return 0;
        int lane = _ordered ? 0 : partition->Number;
        int used = operation.Encode(Log!.Reserve(lane, batch, key, checked((int)operation.EncodedBytesMax)));
        Log.Append(lane, batch, T.OpId, database, key, used);
        bytes = checked(key.Length + used + IWriteLog.EntryHeadBytes);
        Sketch?.Note(partition->Number, key.Hash, batch); // store.U19
        return batch;
    }

    /// <summary>
    /// Runs a step with every partition locked (store.U6), at the boundary of two batches of the log; the step is written as
    /// operation <paramref name="opId"/>, 0 for none. Returns the last batch before the boundary, 0 without a log. Between
    /// <see cref="BeginOrdered"/> and <see cref="EndStep"/> the step is a part of that one.
    /// </summary>
    public ulong Exclusive(byte opId, ReadOnlySpan<byte> arguments, Action step)
    {
        if (IsMine)
        {
            Garnet.Common.Faults.Check.That(opId != 0, "store.S1 a snapshot is not taken inside a step");
            if (!_ordered)
                BecomeOrdered();
            step();
            if (LogInForce is not { } own)
                return 0;
            arguments.CopyTo(own.Reserve(0, own.Batch, default, arguments.Length));
            own.Append(0, own.Batch, opId, 0, default, arguments.Length);
            Sketch?.NoteAll(own.Batch);
            return 0;
        }
        IWriteLog? log = EnterManyWithLog();
        EnterPartitions();
        ulong last = RunAlone(log, opId, arguments, step);
        ExitAll();
        log?.Release();
        return last;
    }

    // Half of it has no answer: nobody could say what the store holds, and whoever waits for a lock would wait for ever.
    private ulong RunAlone(IWriteLog? log, byte opId, ReadOnlySpan<byte> arguments, Action step)
    {
        bool isThrough = false;
        try
        {
            ulong last = log?.Close() ?? 0;
            step();
            if (opId != 0 && log != null)
            {
                log.Control(opId, arguments);
                Sketch?.NoteAll(log.Batch - 1);
            }
            isThrough = true;
            return last;
        }
        finally
        {
            Garnet.Common.Faults.Check.That(isThrough, "store.U6 a step over all partitions comes to its end");
        }
    }

    /// <summary>True if every partition is the calling thread's: it holds the lock, or takes it when it comes there (store.U6).</summary>
    public bool IsMine => Volatile.Read(ref _owner) is not 0 and var owner && owner == Environment.CurrentManagedThreadId;

    /// <summary>Begins a step that holds every partition (store.U6), at the boundary of two batches; all it writes is one batch.</summary>
    public void BeginOrdered(HeldPartitions held)
    {
        BeginOpen(held);
        BecomeOrdered();
    }

    /// <summary>
    /// Begins a step that holds every partition from when it comes there (store.U6); what it writes goes to the open batch, which nobody
    /// ends meanwhile.
    /// </summary>
    public void BeginOpen(HeldPartitions held)
    {
        EnterManyWithLog();
        _step = held;
        Volatile.Write(ref _owner, Environment.CurrentManagedThreadId);
    }

    /// <summary>Ends the step; returns its batch if it has one of its own, 0 if it wrote nothing.</summary>
    public ulong EndStep()
    {
        IWriteLog? log = LogInForce; // the one that was held: nobody replaced it meanwhile (store.U6)
        ulong batch = _ordered ? log?.CloseOrdered() ?? 0 : 0;
        _ordered = false;
        Volatile.Write(ref _owner, 0);
        _step!.Exit();
        SpinLatch.Exit(ref _many);
        log?.Release();
        return batch;
    }

    private void BecomeOrdered()
    {
        TakeRest();
        LogInForce?.Close();
        _ordered = true;
    }

    /// <summary>Takes every partition's lock (store.U6); a step of the thread takes those that it has not come to.</summary>
    public void EnterAll()
    {
        if (IsMine)
        {
            TakeRest();
            return;
        }
        EnterMany();
        EnterPartitions();
    }

    /// <summary>Gives back what <see cref="EnterAll"/> took; a step keeps it to its end.</summary>
    public void ExitAll()
    {
        if (IsMine)
            return;
        for (int i = 0; i < Shape->PartitionCount; i++) Partition.Exit(Shape->Partitions + i);
        SpinLatch.Exit(ref _many);
    }

    /// <summary>Takes the partition's lock; a step of the thread takes it to its end.</summary>
    public void EnterUnlessMine(Partition* partition)
    {
        if (IsMine)
            _step!.Take(partition);
        else
            Partition.Enter(partition);
    }

    // store.U6: of those who take all partitions, or take them as they come, there is one at a time.
    private void EnterMany() => Partition.EnterGate(ref _many);

    // The same, the log held before, as it may have to wait: if it was replaced until then, it is let go for the one that counts.
    private IWriteLog? EnterManyWithLog()
    {
        while (true)
        {
            IWriteLog? log = LogInForce;
            log?.Hold();
            EnterMany();
            if (log == LogInForce)
                return log;
            SpinLatch.Exit(ref _many);
            log?.Release();
        }
    }

    private void EnterPartitions()
    {
        for (int i = 0; i < Shape->PartitionCount; i++) Partition.Enter(Shape->Partitions + i);
    }

    private void TakeRest()
    {
        for (int i = 0; i < Shape->PartitionCount; i++) _step!.Take(Shape->Partitions + i);
    }

    /// <summary>Gives the partition's lock back; nothing if the thread holds them all.</summary>
    public void ExitUnlessMine(Partition* partition)
    {
        if (!IsMine)
            Partition.Exit(partition);
    }

    /// <summary>Replaces the log between two steps (store.U6).</summary>
    public void SetLog(IWriteLog? log)
    {
        EnterAll();
        Log = log;
        Logging = log != null;
        Sketch?.Clear();
        ExitAll();
    }

    private void Hook() => Volatile.Write(ref Hooked, _logging || _observer != null);

    public IWriteLog? LogInForce => _logging ? Log : null;

    /// <summary>The log's batch that a change of the partition made now goes to.</summary>
    public ulong BatchOf(Partition* partition) => partition != null && partition->PinnedBatch != 0 ? partition->PinnedBatch : Log!.Batch;

    private void LogDeletion(Partition* partition, in KeyRef key)
    {
        DeleteKey deletion = default;
        LogChange(partition, key, ref deletion, out _);
    }

    private void OpenPartitions(Arena arena)
    {
        int count = Shape->PartitionCount;
        Shape->Partitions = (Partition*)NativeMemory.AlignedAlloc((nuint)(count * sizeof(Partition)), 256);
        NativeMemory.Clear(Shape->Partitions, (nuint)(count * sizeof(Partition)));
        arena.Take(count * sizeof(Partition), Claim.Forced);
        long slabBytes = (arena.SegmentsStart - arena.SlabStart) / count / Arena.PageBytes * Arena.PageBytes;
        for (int i = 0; i < count; i++)
        {
            Partition* partition = Shape->Partitions + i;
            partition->Number = i;
            partition->Slab = arena.Base + arena.SlabStart + i * slabBytes;
            partition->SlabNodesMax = (uint)Math.Min(slabBytes / Bucket.NodeBytes, 1 << 24);
            RecordSpace.Open(partition);
            Index.Open(partition);
            GrowCounts(partition, 0);
        }
        arena.FixBase();
    }

    // The old array is kept: Count peeks without the lock.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private NamespaceCount* GrowCounts(Partition* partition, uint ns)
    {
        uint room = NamespaceCount.RoomFor(ns, partition->CountsMax);
        NamespaceCount* counts = (NamespaceCount*)NativeMemory.AllocZeroed(room, (nuint)sizeof(NamespaceCount));
        _arena.Take(room * sizeof(NamespaceCount), Claim.Forced);
        if (partition->Counts != null)
        {
            Buffer.MemoryCopy(partition->Counts, counts, room * sizeof(NamespaceCount), partition->CountsMax * sizeof(NamespaceCount));
            lock (_oldCounts)
            {
                _oldCounts.Add((nint)partition->Counts);
                OldCountBytes += partition->CountsMax * sizeof(NamespaceCount);
            }
        }
        partition->Counts = counts;
        Volatile.Write(ref partition->CountsMax, room);
        return counts + ns;
    }
}
