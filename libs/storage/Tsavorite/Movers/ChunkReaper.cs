using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// Removes the chunks of roots that are gone, some with each lock hold. The log has the removal of the root, and with it these.
/// What is removed is saved for a running snapshot: like a writer, it stops while that is behind.
/// </summary>
internal sealed unsafe class ChunkReaper
{
    private const int ChunksPerHold = 16, ProbesPerHold = 64;
    private readonly StoreCore _core;
    private readonly Lock _gate = new();

    public ChunkReaper(StoreCore core) => _core = core;

    /// <summary>At most that many lock holds of work; true if it found some, there or where it passed over a partition that somebody holds.</summary>
    public bool Step(int holds, bool passesHeld)
    {
        bool worked = false;
        for (int i = 0; i < _core.Shape->PartitionCount && holds > 0; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            while (Volatile.Read(ref *(nint*)&partition->Orphans) != 0 && holds-- > 0)
            {
                if (_core.Snapshots.Running is { Behind: true }) return false;
                worked = true;
                if (passesHeld && Partition.IsHeld(partition)) break;
                Reap(partition);
            }
        }
        return worked;
    }

    private void Reap(Partition* partition)
    {
        lock (_gate)
        {
            Partition.Enter(partition);
            Orphan* orphan = partition->Orphans;
            if (orphan != null && !ReapSome(partition, orphan))
            {
                partition->Orphans = orphan->Next;
                NativeMemory.Free(orphan);
            }
            Partition.Exit(partition);
        }
    }

    // False once none is left.
    private bool ReapSome(Partition* partition, Orphan* orphan)
    {
        KeyRef root = RootOf(orphan);
        int chunks = ChunksPerHold, probes = ProbesPerHold;
        while (orphan->Limit > 0 && chunks > 0 && probes-- > 0)
        {
            uint number = --orphan->Limit;
            for (uint set = 0; set < orphan->Sets; set++)
                chunks -= Remove(partition, root, orphan->Owner, RootLimit.NumberOf(set, number));
        }
        return orphan->Limit > 0;
    }

    private int Remove(Partition* partition, in KeyRef root, ulong owner, uint number)
    {
        ulong hash = ChunkKey.Hash(_core, root.Hash, owner, number);
        byte* bucket = Shape.BucketOf(_core.Shape, partition, hash);
        ulong* slot = Bucket.FindChunk(_core.Shape, partition, bucket, owner, number, ChunkKey.InRoot(root, hash));
        if (slot == null) return 0;
        _core.Remove(partition, bucket, slot);
        return 1;
    }

    private KeyRef RootOf(Orphan* orphan)
    {
        byte* key = Orphan.Key(orphan);
        return new KeyRef(key, orphan->KeyBytes, orphan->Namespace, KeyHash.Mix(_core.HashOf(key, orphan->KeyBytes), orphan->Namespace));
    }
}
