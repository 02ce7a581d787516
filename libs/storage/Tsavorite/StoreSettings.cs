using Garnet.Media;

namespace Tsavorite;

/// <summary>What a store needs to know at birth. Everything not given is derived.</summary>
public sealed record StoreSettings
{
    /// <summary>Limit in bytes of records, index and fixed parts together; may be changed later by <see cref="Store.SetMemoryLimit"/>.</summary>
    public long MemoryLimitBytes { get; init; } = 256L << 20;
    /// <summary>Address space reserved for the arena in bytes; 0 = derived. Reserved space costs no memory.</summary>
    public long ReserveBytes { get; init; }
    /// <summary>Number of partitions, a power of two from 1 to 1,024; 0 = 8 per core, at least 64.</summary>
    public int Partitions { get; init; }
    /// <summary>Bytes of a record segment, a power of two from 4 KiB to 1 MiB; 0 = derived from the limit.</summary>
    public int SegmentBytes { get; init; }
    /// <summary>Seed of the key hash; 0 = random. Fixed only in tests.</summary>
    public ulong HashSeed { get; init; }
    /// <summary>What to do when memory is full.</summary>
    public EvictionPolicy Policy { get; init; }
    /// <summary>Ask the system for 2 MiB pages.</summary>
    public bool HugePages { get; init; } = true;
    /// <summary>Run the movers (expiry, eviction, cleaning, reclaiming) on a thread of the store's own; off in stepped tests.</summary>
    public bool BackgroundMovers { get; init; } = true;
    /// <summary>The hook every logical change goes through; null = no log.</summary>
    public IWriteLog? Log { get; init; }
    /// <summary>Remember which batch of the log changed a key last, for <see cref="StoreSession.LastSeen"/>: 16 KiB for each partition.</summary>
    public bool TellsBatches { get; init; }
    /// <summary>Judges values that come from outside; null = they are believed once their checksums hold.</summary>
    public IValueCheck? ValueCheck { get; init; }
    /// <summary>Wall clock in Unix milliseconds for the movers; null = the system's.</summary>
    public Func<long>? ClockMs { get; init; }

    /// <summary>
    /// What records that nobody reads go to when memory gets short; null = nothing. The store's alone while it is open, and disposed of by
    /// its owner after the store.
    /// </summary>
    public Garnet.Media.IMedium? Tier { get; init; }

    /// <summary>What tells the content of <see cref="Tier"/> from all others', so that snapshots may name what lies there; none: it does not outlive the store.</summary>
    public MediumId TierId { get; init; }

    /// <summary>What snapshots name, to be read only, for a store without a tier of its own; its owner's as well.</summary>
    public Garnet.Media.IMedium? Named { get; init; }

    /// <summary>Told of trouble with <see cref="Tier"/>; null = nobody.</summary>
    public ITierObserver? TierObserver { get; init; }

    /// <summary>Microseconds of a clock that never goes back, by which a device's time is taken; null = the system's.</summary>
    public Func<long>? MonotonicUs { get; init; }

    /// <summary>Bytes of a segment of the tier, a power of two from 8 KiB to 1 GiB; 0 = 1 MiB. A tier that is gone on with has what it had.</summary>
    public int TierSegmentBytes { get; init; }

    /// <summary>Sessions whose steps are put off for the tier, which share what memory is kept for those that have waited for longest.</summary>
    public int TierSessions { get; init; } = 1;

    /// <summary>Memory that the process may have in all, bytes: what is read from a tier lies beside <see cref="MemoryLimitBytes"/>.</summary>
    public long ProcessBytesMax { get; init; } = long.MaxValue;

    /// <summary>Memory that the process has, bytes: with a tier, commands that gather much of it are ended before that is all that it may have. Null: nobody says.</summary>
    public Func<long>? ResidentBytes { get; init; }

    /// <summary>Buckets of an index segment, a power of two from 2; 0 = derived (<see cref="Store.IndexBucketsFor"/>). What names records of a tier goes by it.</summary>
    public int IndexBuckets { get; init; }
    /// <summary>Test hook: the hash bits that count; fewer force collisions.</summary>
    internal ulong HashMask { get; init; } = ulong.MaxValue;
    /// <summary>Test hook: expiry classes; 0 = derived.</summary>
    internal int TtlClasses { get; init; }
}
