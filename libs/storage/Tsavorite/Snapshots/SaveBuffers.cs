using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// What writers save while a snapshot runs: one open block per partition, filled under its lock, and a list of full ones that the
/// walker takes. Nothing here waits (store.U5). Above the budget it says so (<see cref="Behind"/>, store.S4), and writers are asked to wait
/// before they take locks; above the maximum nothing is saved any more and the snapshot is given up.
/// </summary>
internal sealed unsafe class SaveBuffers : IDisposable
{
    private const int BlockBytesMax = SnapshotWalk.BlockBytes, BlockBytesMin = 4096, KeptMax = 64;
    private readonly SavedBlock** _open;
    private readonly int _partitions, _blockBytes;
    private readonly long _budget, _maximum;
    private SavedBlock* _full, _kept;
    private int _gate, _keptCount;
    private long _bytes;
    private volatile bool _behind;

    public SaveBuffers(SnapshotOptions options, int partitions)
    {
        _partitions = partitions;
        _budget = Math.Max(options.BufferBytes, 1);
        _maximum = options.BufferBytesMax != 0 ? Math.Max(options.BufferBytesMax, _budget) : _budget * 8;
        // The open blocks of all partitions together are a quarter of the budget at most, unless that is tiny.
        _blockBytes = (int)Math.Clamp(_budget / 4 / partitions, BlockBytesMin, BlockBytesMax);
        _open = (SavedBlock**)NativeMemory.AllocZeroed((nuint)partitions, (nuint)sizeof(SavedBlock*));
    }

    /// <summary>Bytes of blocks that hold saved records.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>True from the budget on until a quarter of it is free again.</summary>
    public bool Behind => _behind;

    /// <summary>Room for a record, under the partition's lock; null if that takes more memory than allowed or there is.</summary>
    public byte* Reserve(int partition, int bytes)
    {
        SavedBlock* block = _open[partition];
        if (block == null || block->Room - block->Used < bytes)
        {
            Close(partition);
            block = Take(Math.Max(bytes, _blockBytes));
            if (block == null)
                return null;
            _open[partition] = block;
        }
        byte* room = SavedBlock.Start(block) + block->Used;
        block->Used += bytes;
        block->Records++;
        return room;
    }

    /// <summary>Hands the partition's open block to the walker, under the partition's lock.</summary>
    public void Close(int partition)
    {
        SavedBlock* block = _open[partition];
        if (block == null)
            return;
        _open[partition] = null;
        SpinLatch.Enter(ref _gate);
        block->Next = _full;
        _full = block;
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>A full block, or null.</summary>
    public SavedBlock* TakeFull()
    {
        SpinLatch.Enter(ref _gate);
        SavedBlock* block = _full;
        if (block != null)
            _full = block->Next;
        SpinLatch.Exit(ref _gate);
        return block;
    }

    /// <summary>The block's records are out.</summary>
    public void Return(SavedBlock* block)
    {
        SpinLatch.Enter(ref _gate);
        _bytes -= SizeOf(block->Room);
        if (_bytes <= _budget / 4 * 3)
            _behind = false;
        bool keeps = block->Room == _blockBytes && _keptCount < KeptMax;
        if (keeps)
        {
            block->Next = _kept;
            _kept = block;
            _keptCount++;
        }
        SpinLatch.Exit(ref _gate);
        if (!keeps)
            NativeMemory.Free(block);
    }

    /// <summary>Frees everything; nobody saves any more.</summary>
    public void Dispose()
    {
        for (int i = 0; i < _partitions; i++) NativeMemory.Free(_open[i]);
        NativeMemory.Free(_open);
        for (SavedBlock* block; (block = _full) != null;)
        {
            _full = block->Next;
            NativeMemory.Free(block);
        }
        for (SavedBlock* block; (block = _kept) != null;)
        {
            _kept = block->Next;
            NativeMemory.Free(block);
        }
        _bytes = 0;
        _behind = false;
    }

    private static long SizeOf(int room) => SavedBlock.HeadBytes + room;

    private SavedBlock* Take(int room)
    {
        SpinLatch.Enter(ref _gate);
        SavedBlock* block = null;
        bool allowed = _bytes < _maximum;
        if (allowed)
        {
            _bytes += SizeOf(room);
            if (_bytes >= _budget)
                _behind = true;
        }
        if (allowed && room == _blockBytes && _kept != null)
        {
            block = _kept;
            _kept = block->Next;
            _keptCount--;
        }
        SpinLatch.Exit(ref _gate);
        if (!allowed)
            return null;
        if (block == null)
            block = Allocate(room);
        if (block == null)
            return null;
        *block = new SavedBlock { Room = room };
        return block;
    }

    // A write must not fail because a snapshot runs: no memory means no snapshot.
    private static SavedBlock* Allocate(int room)
    {
        try
        {
            return (SavedBlock*)NativeMemory.Alloc((nuint)SizeOf(room));
        }
        catch (OutOfMemoryException)
        {
            return null;
        }
    }
}
