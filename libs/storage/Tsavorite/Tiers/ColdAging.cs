namespace Tsavorite;

/// <summary>
/// Forgets reads of the tier that lie long back: while there are as many looks at cold records as memory has records, the frequency of each cold word falls by
/// <see cref="Falls"/> steps, of one in persistent memory by one, since more reads bring that back. Two reads bring a record back only if they come that close
/// together; otherwise whatever is read twice ever would come back, and drive out what is read more often. Part by part, as looks come; no look, no walk.
/// </summary>
internal sealed unsafe class ColdAging(StoreCore core, ColdTier tier)
{
    /// <summary>Measured (decision 12): with one, half of what comes back leaves again unread; with more than three, reads from memory become fewer.</summary>
    private const int Falls = 3;

    private const int BucketsPerHold = 256, BucketsPerStep = 1 << 14, LooksMin = 1 << 12;
    private long _looks;
    private double _owed, _bucketsPerLook;
    private int _partition, _round;
    private long _position;

    /// <summary>Walks on as far as the looks since the last call ask for; true if not all of that is done.</summary>
    public bool Step()
    {
        long looks = tier.Of(TierCount.Considered), buckets = 0;
        if (looks != _looks)
        {
            for (int i = 0; i < core.Shape->PartitionCount; i++) buckets += BucketsOf(core.Shape->Partitions + i);
            if (_bucketsPerLook == 0)
                _bucketsPerLook = PerLook(buckets);
            _owed = Math.Min(_owed + (Math.Max(looks - _looks, 0) * _bucketsPerLook), buckets); // fewer: counting was begun anew
            _looks = looks;
        }
        for (int left = BucketsPerStep; left > 0 && _owed >= 1; left -= BucketsPerHold) Walk();
        return _owed >= 1;
    }

    private void Walk()
    {
        Partition* partition = core.Shape->Partitions + _partition;
        Partition.Enter(partition);
        long end = Math.Min(_position + BucketsPerHold, BucketsOf(partition));
        _owed -= Math.Max(end - _position, 1);
        for (; _position < end; _position++) Age(partition, _position);
        bool isThrough = _position >= BucketsOf(partition);
        Partition.Exit(partition);
        if (!isThrough)
            return;
        _position = 0;
        _partition = (_partition + 1) & (core.Shape->PartitionCount - 1);
        if (_partition != 0)
            return;
        _round = (_round + 1) % Falls;
        _bucketsPerLook = 0; // measured anew: there are more records now, or fewer
    }

    private void Age(Partition* partition, long position)
    {
        int perSegment = core.Shape->BucketsPerSegment;
        byte* bucket = core.Index.BucketAt(IndexSpace.Entries(partition)[position / perSegment], (int)(position % perSegment));
        bool all = position % Falls == _round; // of persistent memory a part of the buckets each round
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = Volatile.Read(ref *walk.Slot);
            if (word != 0 && IndexWord.IsCold(word) && IndexWord.Frequency(word) != 0 && (all || !tier.IsInMemory(word)))
                Interlocked.CompareExchange(ref *walk.Slot, word - IndexWord.FrequencyOne, word); // store.U1: readers raise it meanwhile
        }
    }

    private long BucketsOf(Partition* partition) => (long)core.Shape->BucketsPerSegment << IndexSpace.DepthOf(partition);

    private double PerLook(long buckets)
    {
        long words = 0;
        for (int i = 0; i < core.Shape->PartitionCount; i++) words += core.Shape->Partitions[i].Words;
        return (double)Falls * buckets / Math.Max(words - tier.Segments.Live.Records, LooksMin);
    }
}
