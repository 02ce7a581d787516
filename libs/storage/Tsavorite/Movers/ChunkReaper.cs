using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// Removes the chunks of roots that are gone, some with each lock hold. The log has the removal of the root, and with it these.
/// What is removed is saved for a running snapshot: like a writer, it stops while that is behind.
/// </summary>
internal sealed unsafe class ChunkReaper : IDisposable
{
    private const int ChunksPerHold = 16, ProbesPerHold = 64;
    private readonly StoreCore _core;
    private readonly ChunkScratch _scratch = new();
    private readonly Lock _gate = new();

    public ChunkReaper(StoreCore core) => _core = core;

    /// <summary>At most that many lock holds of work; true if it found some.</summary>
    public bool Step(int holds)
    {
        bool worked = false;
        for (int i = 0; i < _core.Shape->PartitionCount && holds > 0; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            while (Volatile.Read(ref *(nint*)&partition->Orphans) != 0 && holds-- > 0)
            {
                if (_core.Snapshots.Running is { Behind: true }) return false;
                Reap(partition);
                worked = true;
            }
        }
        return worked;
    }

    /// <inheritdoc/>
    public void Dispose() => _scratch.Dispose();

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
        _scratch.Begin(orphan->Owner, root);
        int chunks = ChunksPerHold, probes = ProbesPerHold;
        while (orphan->Limit > 0 && chunks > 0 && probes-- > 0)
        {
            uint number = --orphan->Limit;
            for (uint set = 0; set < orphan->Sets; set++)
                chunks -= Remove(partition, _scratch.Key(_core, root, RecordEdit.NumberOf(set, number)));
        }
        return orphan->Limit > 0;
    }

    private int Remove(Partition* partition, in KeyRef key)
    {
        byte* bucket = Shape.BucketOf(_core.Shape, partition, key.Hash);
        ulong* slot = Bucket.Find(_core.Shape, partition, bucket, key);
        if (slot == null) return 0;
        _core.Remove(partition, bucket, slot);
        return 1;
    }

    private KeyRef RootOf(Orphan* orphan)
    {
        byte* key = Orphan.Key(orphan);
        // The scratch has readable bytes behind it, as a hash wants them.
        byte* padded = _scratch.Bytes + ChunkKey.HeadBytes;
        new ReadOnlySpan<byte>(key, orphan->KeyBytes).CopyTo(new Span<byte>(padded, orphan->KeyBytes));
        return new KeyRef(padded, orphan->KeyBytes, orphan->Namespace, KeyHash.Mix(_core.HashOf(padded, orphan->KeyBytes), orphan->Namespace));
    }
}
