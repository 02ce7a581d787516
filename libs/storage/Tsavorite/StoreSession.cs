using System.Runtime.CompilerServices;
using Garnet.Common;
using Garnet.Common.Faults;

namespace Tsavorite;

/// <summary>
/// One thread's way into the store. Not thread-safe. The owner sets <see cref="NowMs"/> once per round of work; all
/// expiry decisions of the session are taken by it.
/// Reads take no lock: store.U2 what is read counts only if the bucket's sequence, and store.U12 the partition's structure
/// sequence, are even and unmoved. Changes take one lock (store.U1) and pass the log under it (store.U7), which has been asked before whether it
/// can take them (store.U22, <see cref="StepBudget"/>).
/// What leaves by an exception before anything has changed gives its lock back (looks, and what is not at hand on a tier). One that leaves a
/// change in the middle (<see cref="Changes"/> is odd) does not, on purpose: nobody may read what is half written, and the caller ends the process.
/// </summary>
public sealed unsafe partial class StoreSession : IDisposable
{
    private const int OptimisticTriesMax = 4;

    /// <summary>The session's clock, Unix milliseconds.</summary>
    public long NowMs;
    /// <summary>Reads that found a live record.</summary>
    public long Hits;
    /// <summary>Reads that did not.</summary>
    public long Misses;

    private readonly Store _store;
    private readonly StoreCore _core;
    private readonly Shape* _shape;
    private readonly Writer _writer;
    private readonly HeldPartitions _held;
    private readonly ChangeSketch? _sketch;
    private readonly ColdReads? _cold;
    private readonly StepBudget _budget;
    private long _changes;
    private int _heldCount, _lockDepth;
    private ReadSampling _sampling;
    private ulong _random;

    internal StoreSession(Store store, SessionTier? tier)
    {
        _store = store;
        _core = store.Core;
        _shape = _core.Shape;
        Tier = tier;
        _cold = Tier?.Reads;
        _sampling = new ReadSampling(_cold != null);
        _writer = new Writer(store, _cold);
        _held = new HeldPartitions(_core);
        _budget = new StepBudget(_core, _writer);
        Room = new StepRoom(this, store, _held, _budget);
        _sketch = _core.Sketch;
        _random = (ulong)Random.Shared.NextInt64() | 1;
    }

    /// <summary>
    /// Shows the live record to <paramref name="read"/>: <see cref="Outcome.Done"/> or <see cref="Outcome.NotFound"/>.
    /// Counts a hit or miss and raises the record's access frequency unless <paramref name="quiet"/>.
    /// </summary>
    public Outcome Read<T>(in KeyRef key, ref T read, bool quiet = false) where T : struct, IRead
    {
        Outcome outcome = Outcome.Unchanged;
        if (_heldCount == 0)
            outcome = TryRead(Shape.PartitionOf(_shape, key.Hash), key, ref read, quiet);
        if (outcome > Outcome.NotFound)
            outcome = ReadSlow(key, ref read, quiet);
        if (_sketch != null)
            See(key);
        return outcome;
    }

    /// <summary>
    /// The log's batch that the session's last change went to; 0 if there was none since the owner set it to 0. Whoever must
    /// not acknowledge before the log is on disk waits for this number.
    /// </summary>
    public ulong LastBatch { get => _writer.LastBatch; set => _writer.LastBatch = value; }

    /// <summary>
    /// The log's batch that the session has looked at a change of, or a later one; 0 if it has looked at nothing since the owner set
    /// it to 0, or the store does not tell (<see cref="StoreSettings.TellsBatches"/>). Changes of its own are in <see cref="LastBatch"/>.
    /// </summary>
    public ulong LastSeen;

    /// <summary>The session has learned, by other ways than a look at a key, what is in the store.</summary>
    public void SeeAny()
    {
        if (_sketch is { } sketch)
            LastSeen = Math.Max(LastSeen, sketch.OfAny());
    }

    /// <summary>
    /// Grows by two with every change, whatever comes of it; odd while one runs. Whoever catches an exception of a step knows by it whether the
    /// step may have changed anything, and whether the store is in the middle of a change.
    /// </summary>
    public long Changes => _changes;

    /// <summary>Runs the operation under the key's partition lock (or under <see cref="Lock"/>).</summary>
    /// <exception cref="TooLargeException">The log cannot take it (store.U22); nothing was done.</exception>
    public Outcome Modify<T>(in KeyRef key, ref T operation) where T : struct, IModify
    {
        if (_cold != null)
            return Tier!.Modify(this, key, ref operation);
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        bool announced = Enter(partition, key, ref operation);
        _changes++;
        Outcome outcome = _writer.Change(partition, key, ref operation, NowMs);
        _changes++;
        Exit(partition, announced);
        return Seen(key, outcome);
    }

    /// <summary>
    /// Runs the edit under the key's partition lock (or under <see cref="Lock"/>). <see cref="Outcome.NotFound"/>: the key's
    /// namespace was given up on the way and nothing was run; look the namespace up again.
    /// </summary>
    /// <exception cref="TooLargeException">The log cannot take it (store.U22); nothing was done.</exception>
    public Outcome Edit<T>(in KeyRef key, ref T operation) where T : struct, IEdit
    {
        if (_cold != null || _held.Claim != Claim.Limited)
            return EditSlow(key, ref operation);
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        bool announced = Enter(partition, key, ref operation);
        _changes++;
        Outcome outcome = _writer.Edit(partition, key, ref operation, NowMs);
        _changes++;
        Exit(partition, announced);
        return Seen(key, outcome);
    }

    /// <summary>Shows the live record and its chunks under the key's partition lock: <see cref="Outcome.Done"/> or <see cref="Outcome.NotFound"/>.</summary>
    public Outcome Examine<T>(in KeyRef key, ref T look, bool quiet = false) where T : struct, IExamine
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        bool held = _heldCount != 0;
        Tier?.FetchFirst(partition, key, NowMs, held, quiet);
        ulong* slot;
        if (held)
            CheckHeld(partition);
        else
            Partition.Enter(partition);
        try
        {
            slot = _writer.Examine(partition, key, ref look, NowMs);
            if (slot != null && !quiet && _sampling.IsDue(*slot))
                _sampling.Raise(slot, *slot);
        }
        finally
        {
            if (!held)
                Partition.Exit(partition); // a look whose reply became too long leaves by an exception
        }
        if (!quiet && slot != null)
            Hits++;
        else if (!quiet)
            Misses++;
        if (_sketch != null)
            See(key);
        return slot != null ? Outcome.Done : Outcome.NotFound;
    }

    /// <summary>True if the key holds nothing, or a whole value of its kind: judged byte by byte, by who knows what it means.</summary>
    public bool IsSound(in KeyRef key) => Judgement.Of(_store, this, key);

    /// <summary>
    /// Takes the partition locks of all the keys, in ascending order; reads and changes of these keys until
    /// <see cref="Unlock"/> are one atomic step. No waiting, no other keys in between. Inside another step the keys must
    /// be among its own.
    /// </summary>
    public void Lock(ReadOnlySpan<KeyRef> keys)
    {
        if (_lockDepth++ == 0)
        {
            _budget.Begin();
            _held.Enter(keys);
            _heldCount = _held.Count;
            return;
        }
        foreach (ref readonly KeyRef key in keys) CheckHeld(Shape.PartitionOf(_shape, key.Hash));
    }

    /// <summary>
    /// A sum that grows with every change of the keys and of what lies beside them: between two equal sums nothing about the keys has
    /// changed, so that what was read of them meanwhile was all there at one moment.
    /// </summary>
    public ulong VersionOf(ReadOnlySpan<KeyRef> keys)
    {
        Volatile.ReadBarrier(); // what was read before the second sum was read before it
        ulong sum = 0;
        foreach (ref readonly KeyRef key in keys)
        {
            Partition* partition = Shape.PartitionOf(_shape, key.Hash);
            // A split gives the key another bucket: its sequence must not make up for the change of structure.
            sum += Volatile.Read(ref partition->Structure) * KeyHash.NamespaceFactor;
            sum += Volatile.Read(ref *(uint*)Shape.BucketOf(_shape, partition, key.Hash));
        }
        return sum;
    }

    /// <summary>Live keys in the namespace at one moment: looked at without a lock where nobody changes any, else under all of them, for microseconds.</summary>
    public long Count(uint ns)
    {
        bool held = _heldCount != 0;
        Garnet.Common.Faults.Check.That(!held || _core.IsMine, HeldRule);
        long count = KeyCount.Of(_core, ns, mayPeek: !held);
        SeeAny();
        return count;
    }

    /// <summary>Adds the key to those that <see cref="LockWanted"/> locks.</summary>
    public void Want(in KeyRef key) => _held.Want(key);

    /// <summary>Forgets the keys gathered by <see cref="Want"/>.</summary>
    public void ForgetWanted() => _held.Forget();

    /// <summary><see cref="Lock"/> of all the keys gathered by <see cref="Want"/>.</summary>
    public void LockWanted()
    {
        Garnet.Common.Faults.Check.That(_lockDepth++ == 0, "store.U6 locks are taken all at once");
        _budget.Begin();
        _held.Enter();
        _heldCount = _held.Count;
    }

    /// <summary>
    /// Takes all locks, at a boundary of two batches of the log: until <see cref="Unlock"/> any key may be read and changed, keys
    /// may be scanned and databases emptied and swapped, and all of it is one atomic step and one batch, whose entries run in
    /// their order. Everybody else waits; the caller may wait for the log.
    /// </summary>
    public void LockAll()
    {
        Garnet.Common.Faults.Check.That(_lockDepth++ == 0, "store.U6 locks are taken all at once");
        _budget.Begin();
        _store.Namespaces.Enter();
        _core.BeginOrdered(_held);
        _heldCount = _held.Count;
    }

    /// <summary>
    /// <see cref="LockAll"/> without ending a batch of the log: what is written joins the batch that is open, all of it. A change of
    /// whole databases ends that batch first, so it must be the first change of the step. The lock of a partition is taken when the
    /// step comes to it: until then the store may still remove what has expired or must go. The caller promises that nobody else
    /// has the locks of several keys meanwhile, or waits for them (store.U6); whoever cannot takes <see cref="LockAll"/>.
    /// </summary>
    public void LockOpen()
    {
        Garnet.Common.Faults.Check.That(_lockDepth++ == 0, "store.U6 locks are taken all at once");
        _budget.Begin();
        _store.Namespaces.Enter();
        _core.BeginOpen(_held);
        _heldCount = 1;
    }

    /// <summary>Takes the locks that a step of <see cref="LockOpen"/> has not come to.</summary>
    public void LockRest() => _core.EnterAll();

    /// <summary>Releases what the matching <see cref="Lock"/>, <see cref="LockWanted"/>, <see cref="LockAll"/> or <see cref="LockOpen"/> took.</summary>
    public void Unlock()
    {
        if (_lockDepth == 0 || --_lockDepth > 0)
            return;
        _heldCount = 0;
        _budget.EndStep();
        if (!_core.IsMine)
        {
            _held.Exit();
            return;
        }
        _store.Namespaces.Show();
        ulong batch = _core.EndStep();
        if (batch != 0)
            LastBatch = batch;
        _store.Namespaces.Exit();
    }

    /// <summary>What its steps may take of memory and of the log.</summary>
    public StepRoom Room { get; }
    internal (StoreCore Core, Writer Writer) Parts => (_core, _writer);
    /// <summary>True while locks are held across several calls.</summary>
    internal bool HoldsAny => _heldCount != 0;

    /// <summary>How many calls of <see cref="Lock"/> and its like have not been matched by <see cref="Unlock"/>.</summary>
    public int LockDepth => _lockDepth;

    /// <summary>
    /// Goes back to that depth, for a caller whose step ended in an exception: what nobody else holds is given back, what has been changed stays.
    /// </summary>
    public void UnlockTo(int depth)
    {
        if (_lockDepth <= depth)
            return;
        _lockDepth = Math.Max(depth, 1);
        if (depth == 0)
            Unlock();
    }

    /// <summary>
    /// Shows about <paramref name="count"/> records of the namespace from <paramref name="cursor"/> on and returns
    /// the next cursor, 0 at the end. Every key present during the whole iteration is shown at least once. The
    /// visitor runs under a partition lock, and every look is true.
    /// </summary>
    /// <exception cref="GarnetException">A record on the tier cannot be read: what its key is nobody can say.</exception>
    public ulong Scan<T>(uint ns, ulong cursor, int count, ref T visitor) where T : struct, IRead =>
        Walk(TermsOf(ns), cursor, count, ref visitor);

    /// <summary>The same for a step that may be put off: it ends early where the rest is to be read from a tier, and is put off where all of it is.</summary>
    /// <exception cref="GarnetException">The part would begin with what cannot be read; with <paramref name="skips"/> that is left out.</exception>
    public ulong ScanPart<T>(uint ns, ulong cursor, int count, ref T visitor, bool skips = false) where T : struct, IRead =>
        Walk(TermsOf(ns) with { Reads = ScanReads.PutOff, Skips = skips }, cursor, count, ref visitor);

    internal ScanTerms TermsOf(uint ns) => new(ns, NowMs, _held, _cold);

    internal ulong Walk<T>(in ScanTerms terms, ulong cursor, int count, ref T visitor) where T : struct, IRead
    {
        if (_core.IsMine)
            LockRest();
        cursor = Scanner.Scan(_core, terms, cursor, count, ref visitor);
        SeeAny();
        return cursor;
    }

    /// <summary>Shows a random live record of the namespace; false if there is none. Put off, it comes to the same one again, as far as nothing has changed.</summary>
    public bool RandomRecord<T>(uint ns, ref T read) where T : struct, IRead
    {
        if (_core.IsMine)
            LockRest();
        bool found = Scanner.Random(_core, TermsOf(ns) with { Skips = true }, ref _random, ref read);
        SeeAny();
        return found;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        UnlockTo(0);
        Room.Close();
        _writer.Dispose();
        _cold?.Dispose();
    }

    // The key's partition is the session's afterwards, and a large entry announced (store.U22), with the deletion before it of a record whose time has come;
    // true if that is for this change alone.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Enter<T>(Partition* partition, in KeyRef key, ref T operation) where T : struct, ILogged
    {
        if (!_core.Logging)
        {
            if (_heldCount != 0)
            {
                CheckHeld(partition);
                return false;
            }
            Partition.Enter(partition);
            if (!_core.Logging)
                return false;
            Partition.Exit(partition); // a log has come into force meanwhile, and a large entry is announced without the lock
        }
        return EnterLogged(partition, operation.EncodedBytesMax + (2 * (key.Length + IWriteLog.EntryHeadBytes)));
    }

    private bool EnterLogged(Partition* partition, long bytes)
    {
        if (_heldCount != 0)
        {
            CheckHeld(partition);
            _budget.Take(partition, bytes);
            return false;
        }
        if (bytes > IWriteLog.UnannouncedBytesMax)
            return _budget.EnterAlone(partition, bytes);
        Partition.Enter(partition);
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Exit(Partition* partition, bool announced)
    {
        if (_heldCount != 0)
            return;
        if (announced)
            _budget.LeaveAlone(partition);
        Partition.Exit(partition);
    }

    // What changed nothing has told how things are; a change is in a batch not before those of all that it saw.
    private Outcome Seen(in KeyRef key, Outcome outcome)
    {
        if (outcome == Outcome.OutOfMemory && Room.MayPostpone != null)
            Room.Miss(_writer.LackedBytes, ref _changes);
        if (outcome != Outcome.Done && _sketch != null)
            See(key);
        return outcome;
    }

    // store.U19
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void See(in KeyRef key)
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        Volatile.ReadBarrier(); // the look came before
        if (Volatile.Read(ref partition->Lock) != 0 && !_held.Contains(partition->Number))
        {
            Partition.Enter(partition);
            Partition.Exit(partition);
        }
        LastSeen = Math.Max(LastSeen, _sketch!.Of(partition->Number, key.Hash));
    }

    private const string HeldRule = "store.U6 while locks are held nothing else is locked";

    private void CheckHeld(Partition* partition)
    {
        if (!_held.Contains(partition->Number))
            Take(partition);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Take(Partition* partition)
    {
        Garnet.Common.Faults.Check.That(_core.IsMine, HeldRule);
        _held.Take(partition);
    }

    // Measured (StoreBenchmark): inlined into Read, so that a hit makes no call but the caller's own.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Outcome TryRead<T>(Partition* partition, in KeyRef key, ref T read, bool quiet) where T : struct, IRead
    {
        uint structure = Volatile.Read(ref partition->Structure);
        StoreTestHooks.Yield(YieldPoint.StructureRead);
        byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
        StoreTestHooks.Yield(YieldPoint.DirectoryRead);
        uint sequence = Volatile.Read(ref *(uint*)bucket);
        if (((structure | sequence) & 1) != 0)
            return Outcome.Unchanged;
        StoreTestHooks.Yield(YieldPoint.SequenceRead);
        ulong* slot = Bucket.Find(_shape, partition, bucket, key, out ulong word, out ulong head);
        StoreTestHooks.Yield(YieldPoint.Found);
        bool live = false;
        if (slot != null && !RecordLook.Show(_shape, NowMs, word, head, ref read, out live))
            return Outcome.Unchanged;
        if (slot == null && _cold != null)
            return ReadCold(partition, bucket, key, ref read, quiet, (ulong)structure << 32 | sequence);
        StoreTestHooks.Yield(YieldPoint.Looked);
        Volatile.ReadBarrier();
        if (!Unmoved(partition, bucket, structure, sequence))
            return Outcome.Unchanged;
        if (!live)
        {
            if (!quiet)
                Misses++;
            return Outcome.NotFound;
        }
        if (!quiet)
        {
            Hits++;
            if (_sampling.IsDue(word))
                _sampling.Raise(slot, word);
        }
        return Outcome.Done;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool Unmoved(Partition* partition, byte* bucket, uint structure, uint sequence) =>
        (Volatile.Read(ref *(uint*)bucket) == sequence || StoreTestHooks.Has(PlantedFault.SkipRecheck))
        && (Volatile.Read(ref partition->Structure) == structure || StoreTestHooks.Has(PlantedFault.SkipStructureRecheck));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Outcome ReadSlow<T>(in KeyRef key, ref T read, bool quiet) where T : struct, IRead
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        bool held = _heldCount != 0;
        if (held)
            CheckHeld(partition);
        for (int tries = 1; tries < OptimisticTriesMax && !held; tries++)
        {
            Outcome outcome = TryRead(partition, key, ref read, quiet);
            if (outcome <= Outcome.NotFound)
                return outcome;
        }
        if (!held)
            Partition.Enter(partition);
        bool live = false;
        try
        {
            byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
            ulong* slot = Bucket.Find(_shape, partition, bucket, key, out ulong word, out ulong head);
            if (slot != null)
            {
                RecordLook.Show(_shape, NowMs, word, head, ref read, out live);
                if (live && !quiet && _sampling.IsDue(*slot))
                    _sampling.Raise(slot, *slot);
            }
            else if (_cold != null)
                live = ReadColdLocked(partition, bucket, key, ref read, quiet);
        }
        finally
        {
            if (!held)
                Partition.Exit(partition);
        }
        if (!quiet && live)
            Hits++;
        else if (!quiet)
            Misses++;
        return live ? Outcome.Done : Outcome.NotFound;
    }

}
