namespace Tsavorite;

/// <summary>
/// The partition locks a session holds across several calls, taken in ascending order (store.U6). What is written meanwhile
/// goes to one batch of the log: its number is read once, when all locks are held. They are gathered first
/// (<see cref="Want"/>), then taken at once.
/// </summary>
internal sealed unsafe class HeldPartitions
{
    private readonly StoreCore _core;
    private readonly Shape* _shape;
    private readonly ulong[] _bits = new ulong[1024 / 64];
    private long _promised;

    public HeldPartitions(StoreCore core)
    {
        _core = core;
        _shape = core.Shape;
    }

    /// <summary>Partitions held.</summary>
    public int Count;

    /// <summary>How far the step that holds them, or is to, may go beyond the limit (store.U20).</summary>
    public Claim Claim { get; private set; }

    public bool Contains(int partition) => (_bits[partition >> 6] >> partition & 1) != 0;

    /// <summary>The first of those that are held, null if none is.</summary>
    public Partition* First
    {
        get
        {
            for (int word = 0; word < _bits.Length; word++)
            {
                if (_bits[word] != 0)
                    return _shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(_bits[word]));
            }
            return null;
        }
    }

    /// <summary>True if the key's partition is held.</summary>
    public bool Holds(in KeyRef key) => Contains(Shape.PartitionOf(_shape, key.Hash)->Number);

    /// <summary>The key's partition is among those that <see cref="Enter()"/> takes.</summary>
    public void Want(in KeyRef key)
    {
        Garnet.Common.Faults.Check.That(Count == 0, "store.U6 locks are taken all at once");
        int number = Shape.PartitionOf(_shape, key.Hash)->Number;
        _bits[number >> 6] |= 1UL << number;
    }

    /// <summary>Forgets what is wanted and was not taken.</summary>
    public void Forget()
    {
        Garnet.Common.Faults.Check.That(Count == 0, "store.U6 what is held cannot be forgotten");
        Array.Clear(_bits);
    }

    /// <summary>store.U20 Sets memory aside for a change that the step is to make; false if there is not so much, unless it is forced.</summary>
    public bool TryPromise(long bytes, bool isForced)
    {
        if (!_core.Arena.TryPromise(bytes, isForced))
            return false;
        _promised += bytes;
        SetClaim(Claim.Promised);
        return true;
    }

    /// <summary>That change is made; the step goes on with another claim.</summary>
    public void EndPromise(Claim claim)
    {
        EndPromises();
        SetClaim(claim);
    }

    public void SetClaim(Claim claim)
    {
        if (claim == Claim.Limited)
            EndPromises();
        Claim = claim;
        for (int word = 0; Count > 0 && word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
                (_shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits)))->Claim = claim;
        }
    }

    public void Enter(ReadOnlySpan<KeyRef> keys)
    {
        foreach (ref readonly KeyRef key in keys) Want(key);
        if (StoreTestHooks.Has(PlantedFault.LockInKeyOrder))
            EnterInKeyOrder(keys);
        else
            Enter();
    }

    /// <summary>Takes the locks that are wanted.</summary>
    public void Enter()
    {
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
            {
                Partition.Enter(_shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits)));
                Count++;
            }
        }
        ulong batch = _core.Logging ? _core.Log!.Batch : 0;
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
            {
                Partition* partition = _shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits));
                partition->PinnedBatch = batch;
                partition->Claim = Claim;
                Partition.Hide(partition);
            }
        }
    }

    /// <summary>Takes one more lock, whatever its number: for a step that may hold all (store.U6).</summary>
    public void Take(Partition* partition)
    {
        if (Contains(partition->Number))
            return;
        Partition.Enter(partition);
        partition->Claim = Claim;
        Partition.Hide(partition);
        _bits[partition->Number >> 6] |= 1UL << partition->Number;
        Count++;
    }

    private void EnterInKeyOrder(ReadOnlySpan<KeyRef> keys)
    {
        ulong[] entered = new ulong[_bits.Length];
        foreach (ref readonly KeyRef key in keys)
        {
            Partition* partition = Shape.PartitionOf(_shape, key.Hash);
            if ((entered[partition->Number >> 6] >> partition->Number & 1) != 0)
                continue;
            entered[partition->Number >> 6] |= 1UL << partition->Number;
            Partition.Enter(partition);
            Partition.Hide(partition);
            Count++;
        }
    }

    public void Exit()
    {
        EndPromises();
        Claim = Claim.Limited;
        if (Count == 0)
            return;
        for (int word = 0; word < _bits.Length; word++)
        {
            for (ulong bits = _bits[word]; bits != 0; bits &= bits - 1)
            {
                Partition* partition = _shape->Partitions + (word * 64 + System.Numerics.BitOperations.TrailingZeroCount(bits));
                partition->PinnedBatch = 0;
                partition->Claim = Claim.Limited;
                Partition.Show(partition);
                Partition.Exit(partition);
            }
            _bits[word] = 0;
        }
        Count = 0;
    }

    private void EndPromises()
    {
        if (_promised == 0)
            return;
        _core.Arena.EndPromise(_promised);
        _promised = 0;
    }
}
