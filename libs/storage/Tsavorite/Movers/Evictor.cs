namespace Tsavorite;

/// <summary>
/// Gives up records by policy. Candidates come from a few random buckets, and where these hold few records, as with large values, from as many behind them
/// as it takes to choose among some; the two frequency bits in the index word
/// act as a second chance: there is no list to keep, and a record is touched to choose only by an order that looks into it.
/// Neither chunks nor what is reserved (functions) are ever candidates.
/// </summary>
internal sealed unsafe class Evictor
{
    private const int BucketsPerSample = 3, SamplesMax = 8, ChoosySamples = 4, BucketsPerHold = 4096;

    // Redis chooses among as many. Behind so many buckets, or records, whether they may go or not, it is enough: some microseconds.
    private const int CandidatesMin = 5, BucketsMax = 1024, LooksMax = 256;

    [ThreadStatic]
    private static long _looked;

    private readonly StoreCore _core;
    private readonly NamespaceTable _names;
    private long _draws = Random.Shared.NextInt64();

    public Evictor(StoreCore core, NamespaceTable names)
    {
        _core = core;
        _names = names;
    }

    /// <summary>Buckets that this thread has looked at: what eviction costs where few keys may go.</summary>
    public static long Looked => _looked;

    /// <summary>Evicts one record; false if there is none that the policy allows.</summary>
    public bool EvictOne(EvictionPolicy policy) => policy.Rule().EvictOne(this, policy);

    /// <summary>Evicts one record in that order.</summary>
    public bool EvictOne<T>(EvictionPolicy policy) where T : struct, IEvictionOrder
    {
        ulong random = (ulong)Interlocked.Add(ref _draws, 0x632BE59BD9B4E019);
        random = random * KeyHash.NamespaceFactor | 1;
        int partitions = _core.Shape->PartitionCount;
        for (int sample = 0; sample < SamplesMax; sample++)
        {
            Partition* partition = DrawFuller(policy, ref random);
            if (partition->Words != 0 && EvictIn<T>(partition, policy, takesAny: sample >= ChoosySamples, ref random))
                return true;
        }
        uint first = (uint)Scanner.Draw(ref random, (ulong)partitions);
        for (uint i = 0; i < partitions; i++)
        {
            Partition* partition = _core.Shape->Partitions + ((first + i) & (uint)(partitions - 1));
            if (partition->Words != 0 && SweepIn(partition, policy))
                return true;
        }
        return false;
    }

    // Of two at random the one with more keys that may go: were it any one, their numbers would drift apart, and where few keys are left, as with large
    // values, what was written last would be among them (Mitzenmacher, The Power of Two Choices in Randomized Load Balancing). Over a tier it is any one:
    // those that may not go, as they lie there, are counted with the others.
    private Partition* DrawFuller(EvictionPolicy policy, ref ulong random)
    {
        ulong partitions = (ulong)_core.Shape->PartitionCount;
        Partition* one = _core.Shape->Partitions + Scanner.Draw(ref random, partitions);
        if (_core.Tier is not null)
            return one;
        Partition* other = _core.Shape->Partitions + Scanner.Draw(ref random, partitions);
        return _names.KeysIn(one, policy.IsVolatile()) >= _names.KeysIn(other, policy.IsVolatile()) ? one : other;
    }

    private bool HasCandidates(Partition* partition, EvictionPolicy policy)
    {
        for (uint ns = 0; ns < partition->CountsMax; ns++)
            if (!IsReserved(ns) && (policy.IsVolatile() ? partition->Counts[ns].Expiring : partition->Counts[ns].Keys) != 0)
                return true;
        return false;
    }

    // False if there is none, or if there are too few to choose among, or only such as were just written, and another partition may have a better one.
    private bool EvictIn<T>(Partition* partition, EvictionPolicy policy, bool takesAny, ref ulong random) where T : struct, IEvictionOrder
    {
        Partition.Enter(partition);
        ulong* best = null;
        byte* bestBucket = null;
        long bestScore = long.MaxValue;
        bool ages = T.Ages(ref random), reserves = HasReserved(partition);
        ulong position = 0;
        int seen = 0;
        bool bestIsYoung = false;
        for (int i = 0, looks = 0; i < BucketsPerSample || (seen < CandidatesMin && i < BucketsMax && looks < LooksMax); i++)
        {
            position = i < BucketsPerSample ? Scanner.Draw(ref random, BucketsOf(partition)) : position + 1;
            byte* bucket = BucketAt(partition, position);
            for (SlotWalk walk = new(partition, bucket); walk.Next();)
            {
                looks += *walk.Slot != 0 ? 1 : 0;
                if (!IsCandidate(*walk.Slot, policy, reserves))
                    continue;
                long score = T.Score(_core, *walk.Slot, ref random);
                if (seen++ < CandidatesMin && ages)
                    Age(walk.Slot);
                bool young = score == 0 && _core.Records.IsYoung(*walk.Slot); // not used yet, as it has come only now
                score += young ? 1 : 0; // it never ends the search, and stands behind no other that was used once
                if (score > bestScore || (score == bestScore && !bestIsYoung))
                    continue;
                bestIsYoung = young;
                best = walk.Slot;
                bestBucket = bucket;
                bestScore = score;
            }
            _looked++;
            if (bestScore == 0)
                break;
        }
        bool isChosen = best != null && (bestScore == 0 || takesAny || (!bestIsYoung && seen >= CandidatesMin));
        if (isChosen)
            Evict(partition, bestBucket, best);
        Partition.Exit(partition);
        return isChosen;
    }

    // Candidates may be rare (few keys with an expiry): walk on from where the last walk ended, until there are none left or all was walked.
    private bool SweepIn(Partition* partition, EvictionPolicy policy)
    {
        int depth = -1;
        long left = 0;
        for (; HasCandidates(partition, policy); left -= BucketsPerHold)
        {
            Partition.Enter(partition);
            int now = IndexSpace.DepthOf(partition);
            // At the beginning, and where the index has grown meanwhile: all of it is to be walked.
            if (now != depth)
                left = (long)BucketsOf(partition);
            depth = now;
            bool found = left > 0 && WalkOn(partition, policy);
            Partition.Exit(partition);
            if (found || left <= 0)
                return found;
        }
        return false;
    }

    private bool WalkOn(Partition* partition, EvictionPolicy policy)
    {
        bool reserves = HasReserved(partition);
        for (int i = 0; i < BucketsPerHold; i++)
        {
            byte* bucket = BucketAt(partition, partition->SweepCursor++);
            _looked++;
            for (SlotWalk walk = new(partition, bucket); walk.Next();)
            {
                if (!IsCandidate(*walk.Slot, policy, reserves))
                    continue;
                Evict(partition, bucket, walk.Slot);
                return true;
            }
        }
        return false;
    }

    private ulong BucketsOf(Partition* partition) => (ulong)_core.Shape->BucketsPerSegment << IndexSpace.DepthOf(partition);

    // Behind the last one comes the first.
    private byte* BucketAt(Partition* partition, ulong position)
    {
        ulong perSegment = (ulong)_core.Shape->BucketsPerSegment;
        ulong entry = position / perSegment & ((1UL << IndexSpace.DepthOf(partition)) - 1);
        return _core.Index.BucketAt(IndexSpace.Entries(partition)[entry], (int)(position % perSegment));
    }

    private bool IsCandidate(ulong word, EvictionPolicy policy, bool reserves) =>
        word != 0 && !IndexWord.IsCold(word) && ((word & IndexWord.InternalBit) == 0 || StoreTestHooks.Has(PlantedFault.EvictChunks))
            && (!policy.IsVolatile() || (word & IndexWord.TtlBit) != 0)
            && (!reserves || !IsReserved(_core.KeyOf(_core.Shape->Base + IndexWord.Offset(word)).Namespace));

    // What is reserved is told by its record only, which is touched where there is any in the partition.
    private bool HasReserved(Partition* partition)
    {
        for (uint ns = 0; ns < partition->CountsMax; ns++)
            if (IsReserved(ns) && partition->Counts[ns].Keys != 0)
                return true;
        return false;
    }

    // store.U1: the frequency is raised by readers meanwhile, so it is lowered by a compare-exchange too.
    private static void Age(ulong* slot)
    {
        ulong word = Volatile.Read(ref *slot);
        if (IndexWord.Frequency(word) != 0)
            Interlocked.CompareExchange(ref *slot, word - IndexWord.FrequencyOne, word);
    }

    private bool IsReserved(uint ns) => ns < _core.Databases.Length && _core.Databases[ns] == NamespaceTable.Reserved;

    private void Evict(Partition* partition, byte* bucket, ulong* slot) =>
        _core.RemoveUnasked(partition, bucket, slot, _core.KeyOf(_core.Shape->Base + IndexWord.Offset(*slot)), KeyChange.Evicted);
}
