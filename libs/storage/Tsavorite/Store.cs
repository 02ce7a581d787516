using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Tsavorite;

/// <summary>
/// A partitioned, hash-indexed, log-structured store of byte strings that lives outside the managed heap.
/// Thread-safe; every thread works through a <see cref="StoreSession"/> of its own.
/// A key's hash names its partition; the partition's directory names an index segment; a bucket there names the record.
/// Its rules, by number:
/// store.U1  State changes only under the partition's lock and, in a bucket, between odd and even sequence (frequency bits excepted).
/// store.U2  Readers act on nothing before the re-check.
/// store.U3  Memory is never unmapped and every address is range-checked.
/// store.U4  The index word is the commit point, and an address is not reissued while it is named.
/// store.U5  Nothing waits under a lock. No mover, walker or change holds one for more than a few records; a look (<see cref="IExamine"/>) does for
///     as long as what it shows is (website/docs/decisions/0020-replies-are-written-under-the-lock.md).
/// store.U6  Locks are taken in ascending order, but for the one step at a time whose every partition is: it may take them as it comes there, while
///     nobody else has several (<see cref="StoreSession.LockOpen"/>).
/// store.U7  The log is written under the lock.
/// store.U12 Readers re-check the partition's structure sequence too: it is odd while segments of its directory change places.
/// store.U13 Nothing changes in place in a draining segment, which is marked before the first record is copied.
/// store.U14 Whoever holds a lock runs at normal priority.
/// store.U15 Index memory stays index memory.
/// store.U16 Splits copy a bucket's stamp; merges wait while a snapshot runs.
/// store.U18 A bucket is saved and stamped before its first change after a snapshot's cut; ids and stamps never wrap unseen.
/// store.U19 Which batch a change is in is noted behind it, under the same lock.
/// store.U20 A step over several keys finds room for all of it before its first change, and is then refused none but far beyond the limit
///     (<see cref="Claim.Assured"/>); so does a change of several entries (<see cref="Claim.Promised"/>): it happens whole or not at all.
/// store.U21 What numbers stand for changes in a turn alone (<see cref="NamespaceTable"/>).
/// store.U22 A change is made only after the log has promised to take its entry (<see cref="StepBudget"/>).
/// store.U23 A change that found no room has changed nothing: if it is its step's first, the step may be left, its locks given back and room
///     made for what it lacked, and done again (<see cref="RoomMissException"/>).
/// </summary>
public sealed unsafe class Store : IDisposable
{
    /// <summary>What an edit is refused with (<see cref="GarnetException.What"/>) whose value lies on a tier and may not come back to be changed.</summary>
    public const string NoRoomToReturn = "OOM command not allowed when used memory > 'maxmemory'";
    /// <summary>Longest key in bytes.</summary>
    public const int KeyBytesMax = ushort.MaxValue;
    /// <summary>Longest value in bytes.</summary>
    public const int ValueBytesMax = Record.ValueBytesMax;

    /// <summary>Bytes of an element of a collection at most, 256 MiB and its lengths: two fit into one record, and what a page has beside them.</summary>
    public const int ElementBytesMax = (ValueBytesMax / 2) - (16 << 10);

    private readonly AutoResetEvent _wake = new(false);
    private const int RoundsForRoomMax = 1000;
    private readonly AutoResetEvent? _wakeTiers;
    private readonly Lock _coldGate = new();
    private readonly ColdReads? _cold;
    private readonly Shape* _shape;
    // Copies of the core's: a hash is taken for every command (StoreBenchmark).
    private readonly ulong _hashSeed, _hashMask;

    /// <summary>Opens an empty store.</summary>
    public Store(StoreSettings settings)
    {
        Settings = settings;
        if (settings.Tier is not null)
            _wakeTiers = new AutoResetEvent(false);
        Arena = new Arena(settings, _wake, _wakeTiers);
        Core = new StoreCore(settings, Arena);
        _shape = Core.Shape;
        _hashSeed = Core.HashSeed;
        _hashMask = Core.HashMask;
        Movers = new MoverScheduler(Core, settings, Namespaces, _wake);
        Namespaces.Open(Core, Movers);
        if (Core.Tier is { } tier)
        {
            Tiers = Movers.Tiers = new TierMovers(Core, tier, Movers, Movers.Cleaner, _wakeTiers!);
            _cold = new ColdReads(tier, Garnet.Media.ReaderWake.None) { HoldsUpOthers = true };
        }
        if (!settings.BackgroundMovers)
            return;
        Movers.Start();
        Tiers?.Start();
    }

    /// <summary>The settings the store was opened with.</summary>
    public StoreSettings Settings { get; }

    /// <summary>Namespace ids: database number to id, flush by fresh id, reclaim in the background.</summary>
    public NamespaceTable Namespaces { get; } = new();

    internal Arena Arena { get; }
    internal StoreCore Core { get; }
    internal MoverScheduler Movers { get; }
    internal TierMovers? Tiers { get; }

    /// <summary>Seed of the key hash.</summary>
    public ulong HashSeed => _hashSeed;

    /// <summary>Number of partitions.</summary>
    public int Partitions => _shape->PartitionCount;

    /// <summary>Number of the partition the key lives in.</summary>
    public int PartitionOf(in KeyRef key) => Shape.PartitionOf(_shape, key.Hash)->Number;

    /// <summary>Seeded hash of the key bytes alone. Reads up to 16 bytes behind the last one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong HashBytes(byte* key, int length) => KeyHash.Of(key, length, _hashSeed) & _hashMask;

    /// <summary>A key reference from a hash taken earlier by <see cref="HashBytes"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyRef KeyFromHash(byte* key, int length, uint ns, ulong bytesHash) => new(key, length, ns, KeyHash.Mix(bytesHash, ns));

    /// <summary>A key reference, hashing the bytes now.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyRef Key(byte* key, int length, uint ns) => KeyFromHash(key, length, ns, HashBytes(key, length));

    /// <summary>
    /// Brings the key's index bucket towards the cache (a hint, never wrong); returns where it is, for the second pass.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public nint PrefetchBucket(in KeyRef key)
    {
        byte* bucket = Shape.BucketOf(_shape, Shape.PartitionOf(_shape, key.Hash), key.Hash);
        if (Sse.IsSupported)
            Sse.Prefetch0(bucket);
        return (nint)bucket;
    }

    /// <summary>Second pass: brings the records whose tags match towards the cache.</summary>
    public void PrefetchRecord(in KeyRef key) =>
        PrefetchRecord(key, (nint)Shape.BucketOf(_shape, Shape.PartitionOf(_shape, key.Hash), key.Hash));

    /// <summary>The same with the bucket that the first pass returned.</summary>
    public void PrefetchRecord(in KeyRef key, nint bucketAt)
    {
        if (!Sse.IsSupported)
            return;
        byte* bucket = (byte*)bucketAt;
        for (uint matches = Bucket.Matches(bucket, Shape.TagOf(_shape, key.Hash)); matches != 0; matches &= matches - 1)
        {
            byte* record = _shape->Base + IndexWord.Offset(((ulong*)bucket)[System.Numerics.BitOperations.TrailingZeroCount(matches)]);
            Sse.Prefetch0(record);
            Sse.Prefetch0(record + 64);
        }
        uint node = Bucket.Overflow(bucket);
        if (node != 0)
            Sse.Prefetch0(Bucket.Node(Shape.PartitionOf(_shape, key.Hash), node));
    }

    /// <summary>
    /// Cuts the store: the snapshot returned hands out, step by step, all records as they are now. Locks every partition once,
    /// for microseconds; with a log, waits for a batch to end. One snapshot at a time: throws
    /// <see cref="InvalidOperationException"/> while another has not been disposed of. Dispose of it before the store. The caller
    /// holds no <see cref="StoreSession.Lock"/>. <paramref name="batch"/> is what the snapshot says of itself where no log is
    /// written because another's is followed: the caller sees to it that the store stands at that batch.
    /// </summary>
    public StoreSnapshot BeginSnapshot(SnapshotOptions? options = null, ulong batch = 0)
    {
        if (options is { NamesSegments: true })
            Tiers?.Seal(options.Ended);
        return Core.Snapshots.Begin(options ?? new SnapshotOptions(), batch);
    }

    /// <summary>
    /// True while what writers saved for a snapshot exceeds its budget: whoever is about to write waits before it takes a lock,
    /// until this is false again (the sink has caught up, or the snapshot has ended). The store itself never waits for it.
    /// </summary>
    public bool SnapshotBehind => Core.Snapshots.Running is { Behind: true };

    /// <summary>Which snapshots name what lies on the tier; null where there is none that outlives the store.</summary>
    public TierNames? Names => Core.Tier?.Names;

    /// <summary>The buckets of an index segment that are derived of a limit.</summary>
    public static int IndexBucketsFor(long memoryLimitBytes, int partitions) => StoreShape.IndexBucketsFor(memoryLimitBytes, partitions);

    /// <summary>Bytes that the index takes before a key is in it.</summary>
    public static long IndexBytesMin(int indexBuckets, int partitions) => (long)indexBuckets * partitions * Bucket.Bytes;

    /// <summary>A new session; one per thread that uses the store.</summary>
    public StoreSession OpenSession() => OpenSession(Garnet.Media.ReaderWake.None);

    /// <summary>The same for a thread that sleeps elsewhere than in the store: how it is told that a read of its session has finished.</summary>
    public StoreSession OpenSession(Garnet.Media.ReaderWake wake) =>
        new(this, Core.Tier is { } tier ? new SessionTier(this, tier, wake) : null);

    /// <summary>What becomes of records that are read again on the tier; without a tier it is kept for nothing.</summary>
    public TierPromotion Promotion
    {
        get => Core.Tier is { } tier ? tier.Gate.Mode : TierPromotion.No;
        set
        {
            if (Core.Tier is { } tier)
                tier.Gate.Mode = value;
        }
    }

    /// <summary>Bytes that may be written to the tier a second and a day, by whatever moves records there on its own; 0: as many as there are. Kept for nothing without a tier.</summary>
    public void LimitTierWrites(long perSecond, long perDay) => Core.Tier?.LimitWrites(perSecond, perDay);

    /// <summary>
    /// How long a read of the tier may take, milliseconds, until whoever waits for it has an error. Beyond the seven seconds that a disk made for arrays has to read a bad sector
    /// again, and below what people wait: a read that would still come is not given up.
    /// </summary>
    public const long TierReadTimeoutMs = 10_000;

    /// <summary>Sets that time, at first <see cref="TierReadTimeoutMs"/>. Kept for nothing without a tier.</summary>
    public void LimitTierReads(long milliseconds)
    {
        if (Core.Tier is { } tier)
            tier.ReadTimeoutMs = milliseconds;
    }

    /// <summary>Makes the counters of the tier's figures begin at zero now; those of its sessions go on.</summary>
    public void ResetTierCounts() => Core.Tier?.ResetCounts();

    /// <summary>Room below the limit, made by the calling thread as far as there is any to make: for those who cannot come again later.</summary>
    internal void MakeRoomNow(long nowMs)
    {
        int rounds = RoundsForRoomMax;
        while (rounds-- > 0 && Arena.Used > Arena.Ceiling && Tiers!.Step(nowMs))
        {
            // each round is one
        }
    }

    /// <summary>
    /// Live keys in the namespace, O(partitions); may include expired ones not yet removed. A figure, not a reply: no lock is taken, so that each partition's number is
    /// true, and the sum is of no one moment. A key that is renamed from one partition to another meanwhile may count twice or not at all; whoever must not say
    /// that asks <see cref="StoreSession.Count"/>, as DBSIZE does.
    /// </summary>
    public long Count(uint ns) => Sum(ns, expiring: false);

    /// <summary>The same of keys with an expiry.</summary>
    public long CountWithExpiry(uint ns) => Sum(ns, expiring: true);

    /// <summary>
    /// Changes the memory limit; a lower one is reached by eviction in the background. 0 lifts the limit as far as the
    /// reserved address space goes.
    /// </summary>
    public void SetMemoryLimit(long bytes)
    {
        Arena.SetLimit(bytes);
        Core.Tier?.LimitReads(bytes);
    }

    /// <summary>Counts memory that somebody has beside the store, for values on their way; false if the limit leaves no room for it.</summary>
    public bool TryTakeBeside(long bytes) => Core.TakeBeside(bytes);

    /// <summary>That memory is free again.</summary>
    public void GiveBeside(long bytes) => Core.GiveBeside(bytes);

    /// <summary>Changes the eviction policy.</summary>
    public void SetPolicy(EvictionPolicy policy)
    {
        Movers.Policy = policy;
        Movers.Wake();
    }

    /// <summary>True while the removal of what has expired is stopped.</summary>
    public bool IsExpiryPaused => Movers.IsExpiryPaused;

    /// <summary>
    /// Stops or resumes the removal of expired keys in the background (they are hidden all the same). Once it is stopped, none
    /// is under way any more.
    /// </summary>
    public void PauseExpiry(bool paused)
    {
        Movers.PauseExpiry(paused);
        Movers.Wake();
    }

    /// <summary>Sets the observer, null for none; writers see the change with their next lock.</summary>
    public void Observe(IKeyObserver? observer) => Core.Observer = observer;

    /// <summary>True if the key has a record whose time has not come; for whoever holds its partition's lock.</summary>
    public bool IsLive(in KeyRef key, long nowMs)
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        ulong* slot = Bucket.Find(_shape, partition, Shape.BucketOf(_shape, partition, key.Hash), key);
        if (slot == null && _cold == null)
            return false;
        return slot != null ? Record.IsLive(_shape->Base + IndexWord.Offset(*slot), nowMs) : IsLiveCold(partition, key, nowMs);
    }

    /// <summary>True if the database stands for the key's namespace; for whoever holds its partition's lock: it does as long as that is held.</summary>
    public bool IsOf(int database, in KeyRef key) => Core.Databases[key.Namespace] == database;

    /// <summary>The database that the namespace stands for, -1 if it was given up. True for as long as a partition's lock is held.</summary>
    public int DatabaseOf(uint ns) => Core.Databases[ns];

    /// <summary>
    /// Whether changes pass the log given in the settings. Switched off while a log is read back, before other threads
    /// use the store.
    /// </summary>
    public bool Logging
    {
        get => Core.Logging;
        set => Core.Logging = value;
    }

    /// <summary>
    /// Puts another log, or none, in the place of the one there was; every partition is locked for the change, so that each write
    /// goes to one of them whole. Nobody is about to cut a snapshot meanwhile.
    /// </summary>
    public void SetLog(IWriteLog? log) => Core.SetLog(log);

    /// <summary>
    /// Ends the log's batch: all that anybody can have seen by now is in batches up to the number returned; 0 without a log.
    /// Locks every partition once, for microseconds.
    /// </summary>
    public ulong EndBatch() => Core.Exclusive(0, [], static () => { });

    /// <summary>
    /// Shows every partition in ascending order, each under its lock. For a log that ends a batch: whoever held a lock
    /// before the visit is through with its write. The visitor must not wait and must not touch the store.
    /// </summary>
    public void VisitPartitions(IPartitionVisitor visitor)
    {
        for (int i = 0; i < _shape->PartitionCount; i++)
        {
            Partition.Enter(_shape->Partitions + i);
            visitor.Visit(i);
            Partition.Exit(_shape->Partitions + i);
        }
    }

    /// <summary>True when memory is close to the limit; read by every write command before it starts (one plain read).</summary>
    public bool Tight
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Arena.Tight;
    }

    /// <summary>
    /// Runs one round of the movers (expiry, cleaning, merging, reclaiming, eviction) at the given time; true if more
    /// is to be done at once. For owners that switched <see cref="StoreSettings.BackgroundMovers"/> off.
    /// </summary>
    public bool StepMovers(long nowMs) => Movers.Step(nowMs) | (Tiers?.Step(nowMs) ?? false);

    /// <summary>Exact figures of the moment.</summary>
    public StoreFigures Figures()
    {
        long live = 0, expired = 0, evicted = 0, splits = 0, merges = 0, cleaned = 0, index = 0;
        for (int i = 0; i < _shape->PartitionCount; i++)
        {
            Partition* partition = _shape->Partitions + i;
            Core.EnterUnlessMine(partition);
            live += partition->LiveBytes;
            expired += partition->ExpiredKeys;
            evicted += partition->EvictedKeys;
            splits += partition->Splits;
            merges += partition->Merges;
            cleaned += partition->CleanedBytes;
            index += (long)partition->IndexSegments * _shape->BucketsPerSegment * Bucket.Bytes + IndexSpace.SlabBytes(partition)
                + Core.Index.DirectoryBytes(partition);
            Core.ExitUnlessMine(partition);
        }
        return new StoreFigures
        {
            LimitBytes = Arena.Limit,
            UsedBytes = Arena.Used,
            PeakBytes = Arena.Peak,
            FixedBytes = Arena.Fixed,
            HugePages = Arena.HugePages,
            SnapshotBytes = Core.Snapshots.Running?.BufferedBytes ?? 0,
            LiveBytes = live,
            IndexBytes = index,
            ExpiredKeys = expired,
            EvictedKeys = evicted,
            Splits = splits,
            Merges = merges,
            CleanedBytes = cleaned,
            Tier = Core.Tier?.Figures(),
        };
    }

    /// <summary>
    /// True after <see cref="Dispose"/> where the tier's medium had not answered a write: a thread is still in it, so that nothing of the store has been given back, nor may the medium
    /// be. It is left to the end of the process.
    /// </summary>
    public bool IsHeldByTier { get; private set; }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Tiers?.TryStop() == false)
        {
            IsHeldByTier = true;
            return;
        }

        Tiers?.Dispose();
        Movers.Dispose();
        _cold?.Dispose();
        Core.Snapshots.Running?.Dispose();
        Core.Dispose();
        Arena.Dispose();
        _wake.Dispose();
        _wakeTiers?.Dispose();
    }

    // Rare, and under the partition's lock: a watched key that lies on the tier.
    private bool IsLiveCold(Partition* partition, in KeyRef key, long nowMs)
    {
        lock (_coldGate)
        {
            _cold!.BeginStep();
            _cold.ForgetFailed();
            while (true)
            {
                byte* image = _cold.Find(_shape, partition, Shape.BucketOf(_shape, partition, key.Hash), key, out _);
                if (image == null && _cold.HasMissing)
                {
                    _cold.Fetch(mayThrow: false);
                    continue;
                }
                _cold.Forget();
                bool live = image != null && Record.IsLive(image, nowMs);
                _cold.Release();
                return live;
            }
        }
    }

    // Peeks (store.U1): writers pay nothing for it, and nobody waits.
    private long Sum(uint ns, bool expiring)
    {
        long sum = 0;
        for (int i = 0; i < _shape->PartitionCount; i++)
        {
            Partition* partition = _shape->Partitions + i;
            if (ns >= Volatile.Read(ref partition->CountsMax))
                continue;
            NamespaceCount count = partition->Counts[ns];
            sum += expiring ? count.Expiring : count.Keys;
        }
        return sum;
    }
}
