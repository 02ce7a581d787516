namespace Tsavorite;

/// <summary>
/// Removes the chunks of roots that are gone, some with each lock hold. The log has the removal of the root, and with it these.
/// What is removed is saved for a running snapshot: like a writer, it stops while that is behind. Movers step it, and whoever makes room, who waits neither for the
/// tier nor for movers that do: the reads that they share are used under the gate alone.
/// </summary>
internal sealed unsafe class ChunkReaper : IDisposable
{
    private const int ChunksPerHold = 16, ProbesPerHold = 64;
    private const long LatePauseUs = 1_000_000;
    private const int BusyMs = 1; // a mover that does not wait is through by then
    private readonly StoreCore _core;
    private readonly Lock _gate = new();
    private readonly ColdReads? _cold;
    private long _againUs;

    public ChunkReaper(StoreCore core)
    {
        _core = core;
        if (core.Tier is { } tier)
            _cold = new ColdReads(tier, Garnet.Media.ReaderWake.None) { HoldsUpOthers = true, IsBesideCommands = true };
    }

    /// <inheritdoc/>
    public void Dispose() => _cold?.Dispose();

    /// <summary>At most that many lock holds of a mover's work; true if it found some, there or where it passed over a partition that somebody holds.</summary>
    public bool Step(int holds) => Step(holds, isMover: true);

    /// <summary>The same for whoever makes room, of what is at hand; true if some of it is gone.</summary>
    public bool StepAtHand(int holds) => Step(holds, isMover: false);

    private bool Step(int holds, bool isMover)
    {
        bool worked = false;
        if (Volatile.Read(ref _againUs) is not 0 and var again && _core.Tier!.NowUs < again)
            return false;
        for (int i = 0; i < _core.Shape->PartitionCount && holds > 0; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            while (Volatile.Read(ref *(nint*)&partition->Orphans) != 0 && holds-- > 0)
            {
                if (_core.Snapshots.Running is { Behind: true })
                    return false;
                worked |= isMover;
                if ((isMover && Partition.IsHeld(partition)) || !Reap(partition, isMover))
                    break;
                worked = true;
            }
        }
        if (worked && isMover && _cold != null)
        {
            lock (_gate)
                _cold.Release();
        }
        return worked;
    }

    // False if it met what the device has not brought.
    private bool Reap(Partition* partition, bool isMover)
    {
        if (isMover || _cold is null)
            _gate.Enter();
        else if (!_gate.TryEnter(BusyMs)) // a mover waits for the tier
            return false;
        try
        {
            _cold?.BeginStep();
            Partition.Enter(partition);
            Orphan* orphan = partition->Orphans;
            bool isLeft = orphan != null && ReapSome(partition, orphan);
            bool isLate = _cold is { MetLate: true };
            if (isLate)
                PutOff(partition);
            else if (orphan != null && !isLeft)
            {
                partition->Orphans = orphan->Next;
                Orphan.Free(orphan);
                Interlocked.Decrement(ref _core.Orphans);
            }
            Partition.Exit(partition);
            if (_cold is not { HasMissing: true })
                return !isLate;
            if (isMover)
                _cold.Fetch();
            else
                _cold.Forget(); // a mover comes to it, and waits
            return isMover && !isLate;
        }
        finally
        {
            _gate.Exit();
        }
    }

    // The first goes behind others: what the device may still bring is looked for again, and the others do not wait for it.
    private void PutOff(Partition* partition)
    {
        Orphan* first = partition->Orphans, last = first;
        for (int steps = ProbesPerHold; steps > 0 && last->Next != null; steps--) last = last->Next;
        if (last != first)
        {
            partition->Orphans = first->Next;
            first->Next = last->Next;
            last->Next = first;
        }

        _cold!.ForgetFailed();
        Volatile.Write(ref _againUs, _core.Tier!.NowUs + LatePauseUs);
    }

    // False once none is left.
    private bool ReapSome(Partition* partition, Orphan* orphan)
    {
        KeyRef root = RootOf(orphan);
        int chunks = ChunksPerHold, probes = ProbesPerHold;
        while (orphan->Limit > 0 && chunks > 0 && probes-- > 0)
        {
            uint number = orphan->Limit - 1;
            for (uint set = 0; set < orphan->Sets; set++)
                chunks -= Remove(partition, root, orphan->Owner, RootLimit.NumberOf(set, number));
            if (_cold is { HasMissing: true } or { MetLate: true })
                return true; // the same number again, with what it lacks
            orphan->Limit = number;
        }
        return orphan->Limit > 0;
    }

    private int Remove(Partition* partition, in KeyRef root, ulong owner, uint number)
    {
        ulong hash = ChunkKey.Hash(_core, root.Hash, owner, number);
        byte* bucket = Shape.BucketOf(_core.Shape, partition, hash);
        ulong* slot = Bucket.FindChunk(_core.Shape, partition, bucket, owner, number, ChunkKey.InRoot(root, hash));
        if (slot != null)
        {
            _core.Remove(partition, bucket, slot);
            return 1;
        }
        if (_cold == null || !FindsCold(partition, bucket, new ChunkName(owner, number, ChunkKey.InRoot(root, hash)), out slot))
            return 0;
        _core.RemoveCold(partition, bucket, slot, root.Namespace);
        return 1;
    }

    // A chunk that cannot be read stays for good.
    private bool FindsCold(Partition* partition, byte* bucket, in ChunkName name, out ulong* slot)
    {
        try
        {
            return _cold!.FindChunk(_core.Shape, partition, bucket, name, out slot) != null;
        }
        catch (Garnet.Common.GarnetException)
        {
            slot = null;
            return false;
        }
    }

    private KeyRef RootOf(Orphan* orphan)
    {
        byte* key = Orphan.Key(orphan);
        return new KeyRef(key, orphan->KeyBytes, orphan->Namespace, KeyHash.Mix(_core.HashOf(key, orphan->KeyBytes), orphan->Namespace));
    }
}
