using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// One partition's state, off the managed heap. The first line is only read on the hot path; the second holds the
/// lock and what changes under it; the rest is for growth and the movers. 256 bytes, so that neighbours share no
/// line and the address is a shift.
/// Everything below the first line is read and changed under the lock, but that counters may be peeked at (store.U1).
/// Several locks are taken in ascending order of number (store.U6).
/// <see cref="Structure"/> is odd while the directory or its segments change, and while a step over several keys holds the
/// partition: who reads without the lock sees all of the step or nothing (store.U12).
/// Records of the <see cref="Draining"/> segment are never changed in place (store.U13).
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = 256)]
internal unsafe struct Partition
{
    public const int ClassesMax = 8;
    public const uint SnapshotRuns = 256;

    /// <summary>Pointer to the directory's segment numbers (64-byte aligned) with its depth in the low 6 bits.</summary>
    [FieldOffset(0)] public ulong Directory;
    [FieldOffset(8)] public uint Structure;
    [FieldOffset(12)] public int Number;
    /// <summary>The overflow nodes, addressed by number; number 0 is none.</summary>
    [FieldOffset(16)] public byte* Slab;
    [FieldOffset(24)] public uint SlabNodesMax;
    /// <summary>0 while no snapshot wants this partition, else <see cref="SnapshotRuns"/> and the stamp (store.U18).</summary>
    [FieldOffset(28)] public uint Snapshot;
    [FieldOffset(32)] public int IndexSegments;
    /// <summary>Segments that are worth cleaning where memory is short (<see cref="RecordSpace.Cleanable"/>): it changes once or twice in the life of each.</summary>
    [FieldOffset(36)] public int Cleanable;

    [FieldOffset(64)] public int Lock;
    [FieldOffset(68)] public uint Draining;
    [FieldOffset(72)] public int DrainOffset;
    /// <summary>Index words in use.</summary>
    [FieldOffset(76)] public int Words;
    [FieldOffset(80)] public long LiveBytes;
    [FieldOffset(88)] public NamespaceCount* Counts;
    [FieldOffset(96)] public uint CountsMax;
    [FieldOffset(100)] public uint SlabTaken;
    [FieldOffset(104)] public uint SlabFreeHead;
    [FieldOffset(108)] public uint SlabFreeNodes;
    [FieldOffset(112)] public int Segments;
    [FieldOffset(116)] public uint SegmentsHead;
    [FieldOffset(120)] public uint ExtentsHead;
    /// <summary>Grows with every change of <see cref="Counts"/>, whatever it is of.</summary>
    [FieldOffset(124)] public uint CountChanges;

    /// <summary>Active segment per class, 0 = none open.</summary>
    [FieldOffset(128)] public fixed uint Active[ClassesMax];
    [FieldOffset(160)] public long ExpiredKeys;
    [FieldOffset(168)] public long EvictedKeys;
    /// <summary>No record in a segment expires earlier (may be too early, never too late).</summary>
    [FieldOffset(176)] public long MinExpiryMs;
    /// <summary>The same for extents.</summary>
    [FieldOffset(184)] public long ExtentMinExpiryMs;
    [FieldOffset(192)] public ulong SweepCursor;
    [FieldOffset(200)] public long ExtentBytes;
    [FieldOffset(208)] public uint MergeCursor;
    [FieldOffset(216)] public long CleanedBytes;
    [FieldOffset(224)] public int Splits;
    [FieldOffset(228)] public int Merges;
    /// <summary>Bytes at the ends of closed segments into which the next record did not fit.</summary>
    [FieldOffset(232)] public long TailBytes;
    /// <summary>While a write holds several partitions: the log's batch that all its entries go to; else 0.</summary>
    [FieldOffset(240)] public ulong PinnedBatch;
    /// <summary>1 while the structure is odd because of a step over several keys: splits need not make it so.</summary>
    [FieldOffset(212)] public ushort Hidden;
    /// <summary>How far whoever holds the partition may go beyond the memory limit (store.U20).</summary>
    [FieldOffset(214)] public Claim Claim;
    /// <summary>Chunks whose root is gone, to be removed in the background.</summary>
    [FieldOffset(248)] public Orphan* Orphans;

    /// <summary>Takes the lock: one compare-exchange when it is free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Enter(Partition* partition)
    {
        StoreTestHooks.Yield(YieldPoint.BeforeLock);
        if (Interlocked.CompareExchange(ref partition->Lock, 1, 0) != 0)
            EnterSlow(ref partition->Lock);
        StoreTestHooks.Yield(YieldPoint.Locked);
    }

    /// <summary>Takes a lock that stands before those of partitions.</summary>
    public static void EnterGate(ref int gate)
    {
        if (Interlocked.CompareExchange(ref gate, 1, 0) != 0)
            EnterSlow(ref gate);
    }

    /// <summary>True if somebody has the lock now. Who can do something else first goes on then: a step over large values holds it for long.</summary>
    public static bool IsHeld(Partition* partition) => Volatile.Read(ref partition->Lock) != 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Exit(Partition* partition)
    {
        Volatile.Write(ref partition->Lock, 0);
        StoreTestHooks.Yield(YieldPoint.Unlocked);
    }

    /// <summary>store.U12: begins a change of the directory or its segments.</summary>
    public static void BeginStructure(Partition* partition)
    {
        if (partition->Hidden != 0)
            return;
        partition->Structure++;
        Volatile.WriteBarrier();
        StoreTestHooks.Yield(YieldPoint.StructureOdd);
    }

    /// <summary>store.U12: ends it.</summary>
    public static void EndStructure(Partition* partition)
    {
        if (partition->Hidden != 0)
            return;
        StoreTestHooks.Yield(YieldPoint.BeforeStructureEven);
        Volatile.Write(ref partition->Structure, partition->Structure + 1);
    }

    /// <summary>store.U12: makes readers wait for the lock from here on.</summary>
    public static void Hide(Partition* partition)
    {
        BeginStructure(partition);
        partition->Hidden = 1;
    }

    /// <summary>store.U12: lets readers in again.</summary>
    public static void Show(Partition* partition)
    {
        partition->Hidden = 0;
        EndStructure(partition);
    }

    // Under a test's scheduler the holder does not run until this thread yields.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EnterSlow(ref int gate)
    {
        if (StoreTestHooks.Interleaves && StoreTestHooks.OnYield != null)
        {
            do StoreTestHooks.Yield(YieldPoint.Blocked);
            while (Interlocked.CompareExchange(ref gate, 1, 0) != 0);
            return;
        }
        SpinLatch.EnterSlow(ref gate);
    }
}
