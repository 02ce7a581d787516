namespace Tsavorite;

/// <summary>
/// The partition locks a session holds across several calls, taken in ascending order (U6). What is written meanwhile
/// goes to one batch of the log: its number is read once, when all locks are held.
/// </summary>
internal sealed unsafe class HeldPartitions
{
    private readonly StoreCore _core;
    private readonly Shape* _shape;
    private readonly ulong[] _bits = new ulong[1024 / 64];

    public HeldPartitions(StoreCore core)
    {
        _core = core;
        _shape = core.Shape;
    }

    /// <summary>Partitions held.</summary>
    public int Count;

    public bool Contains(int partition) => (_bits[partition >> 6] >> partition & 1) != 0;

    public void Enter(ReadOnlySpan<KeyRef> keys)
    {
        Garnet.Common.Faults.Check.That(Count == 0, "U6 locks are taken all at once");
        foreach (ref readonly KeyRef key in keys)
        {
            int number = Shape.PartitionOf(_shape, key.Hash)->Number;
            _bits[number >> 6] |= 1UL << number;
        }
        if (StoreTestHooks.Has(PlantedFault.LockInKeyOrder))
        {
            EnterInKeyOrder(keys);
            return;
        }
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
            {
                Partition.Enter(_shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits)));
                Count++;
            }
        }
        if (_core.Logging) Pin(_core.Log!.Batch);
    }

    private void Pin(ulong batch)
    {
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
                _shape->Partitions[word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits)].PinnedBatch = batch;
        }
    }

    private void EnterInKeyOrder(ReadOnlySpan<KeyRef> keys)
    {
        ulong[] entered = new ulong[_bits.Length];
        foreach (ref readonly KeyRef key in keys)
        {
            Partition* partition = Shape.PartitionOf(_shape, key.Hash);
            if ((entered[partition->Number >> 6] >> partition->Number & 1) != 0) continue;
            entered[partition->Number >> 6] |= 1UL << partition->Number;
            Partition.Enter(partition);
            Count++;
        }
    }

    public void Exit()
    {
        if (Count == 0) return;
        if (_core.Logging) Pin(0);
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
                Partition.Exit(_shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits)));
            _bits[word] = 0;
        }
        Count = 0;
    }
}
