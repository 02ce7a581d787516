namespace Tsavorite;

/// <summary>Where a key lies, and moving it on request. Not for steps that hold locks.</summary>
public sealed unsafe partial class SessionTier
{
    private const int ProbesPerHold = 256, MissingMax = 1024;

    /// <summary>Where the key's records lie; looking changes nothing about that.</summary>
    public TierPlaces Where(in KeyRef key, long nowMs)
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        if (!TryRoot(partition, key, nowMs, out TierRoot root))
            return default;
        int inMemory = 0, onTier = 0;
        for (long from = 0; from < root.Numbers; from += ProbesPerHold)
        {
            Partition.Enter(partition);
            for (long i = from; i < Math.Min(from + ProbesPerHold, root.Numbers); i++)
            {
                ChunkName name = NameOf(root, root[i], key);
                byte* bucket = Shape.BucketOf(_shape, partition, name.Hash);
                if (IsInMemory(partition, bucket, root.Owner, root[i], key))
                    inMemory++;
                else if (HasCold(partition, bucket, name.Hash))
                    onTier++;
            }
            Partition.Exit(partition);
        }
        return new TierPlaces(true, root.IsCold, inMemory, onTier) { IsInPersistentMemory = root.IsInPersistentMemory };
    }

    /// <summary>True if the last <see cref="Promote(in KeyRef, long)"/>, which may have been put off, has taken anything back.</summary>
    public bool HasTakenBack { get; private set; }

    /// <summary>
    /// Takes the key's records back to memory, read often or not. <see cref="Outcome.OutOfMemory"/>: there is no room for all of
    /// them, <see cref="Outcome.NotFound"/>: there is no such key.
    /// </summary>
    public Outcome Promote(in KeyRef key, long nowMs)
    {
        Partition* partition = Shape.PartitionOf(_shape, key.Hash);
        HasTakenBack = false;
        if (!TryRoot(partition, key, nowMs, out TierRoot root))
            return Outcome.NotFound;
        bool hasRoom = TakeRoot(partition, key, nowMs);
        for (long next = 0; hasRoom && next < root.Numbers; Reads.Trim())
        {
            long from = next;
            hasRoom = TakeChunks(partition, key, root, ref next, nowMs);
            if (!Reads.HasMissing)
                continue;
            next = from; // what lacks comes, and is met again
            Reads.Fetch();
        }
        return hasRoom ? Outcome.Done : Outcome.OutOfMemory;
    }

    /// <summary>
    /// Asks for the key's records to be moved to the tier, read often or not; null if there is no such key. <paramref name="told"/> is called once they have been, on
    /// the mover's thread, which it must not hold.
    /// </summary>
    public DemotionRequest? Demote(in KeyRef key, long nowMs, Action? told = null)
    {
        if (!TryRoot(Shape.PartitionOf(_shape, key.Hash), key, nowMs, out TierRoot root))
            return null;
        DemotionRequest request = new(key, root, told);
        _store.Tiers!.Ask(request);
        return request;
    }

    /// <summary>True if the medium has not answered a write for as long as a read may take.</summary>
    public bool IsHung(long nowMs) => _store.Tiers!.IsStalled(nowMs) && _store.Tiers.IsHung;

    private bool TryRoot(Partition* partition, in KeyRef key, long nowMs, out TierRoot root)
    {
        FetchFirst(partition, key, nowMs, isHeld: false, isQuiet: true);
        Partition.Enter(partition);
        try
        {
            byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
            ulong* slot = Bucket.Find(_shape, partition, bucket, key);
            ColdFound cold = slot != null ? default : FindLocked(partition, bucket, key);
            byte* record = slot != null ? Shape.RecordOf(_shape, *slot) : cold.Image;
            bool isLive = record != null && Record.IsLive(record, nowMs);
            root = isLive ? new TierRoot(record, isCold: slot == null, slot == null && _core.Tier!.IsInMemory(cold.Word)) : default;
            return isLive;
        }
        finally
        {
            Partition.Exit(partition);
        }
    }

    // False if there is no room.
    private bool TakeRoot(Partition* partition, in KeyRef key, long nowMs)
    {
        Partition.Enter(partition);
        try
        {
            byte* bucket = Shape.BucketOf(_shape, partition, key.Hash);
            if (Bucket.Find(_shape, partition, bucket, key) != null)
                return true;
            ColdFound found = FindLocked(partition, bucket, key);
            return found.Image == null || TakeBack(partition, bucket, found.Slot, found.Image, nowMs);
        }
        finally
        {
            Partition.Exit(partition);
        }
    }

    // What has come is taken back, what has not is among the missing, from a number on, as far as one hold of the lock goes; false if there is no room.
    private bool TakeChunks(Partition* partition, in KeyRef key, in TierRoot root, ref long next, long nowMs)
    {
        bool hasRoom = true;
        while (hasRoom && next < root.Numbers && Reads.Mark.Missing < MissingMax)
        {
            Partition.Enter(partition);
            try
            {
                for (int probes = ProbesPerHold; hasRoom && next < root.Numbers && probes > 0; probes--, next++)
                    hasRoom = TakeChunk(partition, key, root, root[next], nowMs);
            }
            finally
            {
                Partition.Exit(partition);
            }
        }
        return hasRoom;
    }

    private bool TakeChunk(Partition* partition, in KeyRef key, in TierRoot root, uint number, long nowMs)
    {
        ChunkName name = NameOf(root, number, key);
        byte* bucket = Shape.BucketOf(_shape, partition, name.Hash);
        if (IsInMemory(partition, bucket, root.Owner, number, key))
            return true;
        (int, int) mark = Reads.Mark;
        byte* image = Reads.FindChunk(_shape, partition, bucket, name, out ulong* slot);
        if (image == null)
            return true;
        Reads.Forget(mark); // others of the same tag need not be looked at
        return TakeBack(partition, bucket, slot, image, nowMs);
    }

    private bool TakeBack(Partition* partition, byte* bucket, ulong* slot, byte* image, long nowMs)
    {
        bool isTaken = PromotionGate.HasHeadroom(_core.Arena, ColdRecord.BytesOf(image))
            && _core.TakeBack(partition, bucket, slot, image, nowMs, TierCount.Requested) != null;
        HasTakenBack |= isTaken;
        return isTaken;
    }

    private ChunkName NameOf(in TierRoot root, uint number, in KeyRef key) =>
        new(root.Owner, number, ChunkKey.InRoot(key, ChunkKey.Hash(_core, key.Hash, root.Owner, number)));

    private bool IsInMemory(Partition* partition, byte* bucket, ulong owner, uint number, in KeyRef key)
    {
        ulong hash = ChunkKey.Hash(_core, key.Hash, owner, number);
        return Bucket.FindChunk(_shape, partition, bucket, owner, number, ChunkKey.InRoot(key, hash)) != null;
    }

    private bool HasCold(Partition* partition, byte* bucket, ulong hash)
    {
        ulong tag = Shape.TagOf(_shape, hash);
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = *walk.Slot;
            if ((word ^ tag) >> IndexWord.TagShift == 0 && IndexWord.IsCold(word) && (word & IndexWord.InternalBit) != 0)
                return true;
        }
        return false;
    }
}
