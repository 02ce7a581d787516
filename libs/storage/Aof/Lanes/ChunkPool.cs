using System.Runtime.InteropServices;

namespace Garnet.Aof.Lanes;

/// <summary>
/// Memory for entries that wait for the disk: chunks of one size, handed out again last in, first out, because the one
/// given back last is the likeliest to be in a cache. Keeps the account of all bytes staged. Called by writers under a
/// partition lock, hence a spinning gate held for a few instructions.
/// </summary>
internal sealed unsafe class ChunkPool(int chunkBytes = ChunkPool.DefaultChunkBytes) : IDisposable
{
    /// <summary>Measured with LogBenchmark: smaller costs more calls, larger spreads a lane over more cache.</summary>
    public const int DefaultChunkBytes = 8 << 10;
    private const int FreeBytesMax = 16 << 20, Alignment = 64;

    private const int Extra = Chunk.HeaderBytes + Chunk.SlackBytes;
    private readonly int _capacity = chunkBytes - Extra;
    private SpinLock _gate = new(enableThreadOwnerTracking: false);
    private Chunk* _free;
    private long _freeBytes, _stagedBytes;

    /// <summary>Bytes in chunks handed out and, by <see cref="Account"/>, in write buffers.</summary>
    public long StagedBytes => Volatile.Read(ref _stagedBytes);

    /// <summary>A chunk with room for <paramref name="bytes"/> at least.</summary>
    public Chunk* Take(int bytes)
    {
        Chunk* chunk = null;
        bool pooled = bytes <= _capacity, taken = false;
        int capacity = pooled ? _capacity : bytes;
        _gate.Enter(ref taken);
        _stagedBytes += (long)capacity + Extra;
        if (pooled && _free != null)
        {
            chunk = _free;
            _free = chunk->Next;
            _freeBytes -= (long)capacity + Extra;
        }
        _gate.Exit(useMemoryBarrier: false);
        if (chunk == null)
        {
            chunk = (Chunk*)NativeMemory.AlignedAlloc((nuint)capacity + Extra, Alignment);
            chunk->Capacity = capacity;
        }
        chunk->Next = null;
        chunk->Before = 0;
        chunk->Used = 0;
        return chunk;
    }

    /// <summary>Takes a chain of chunks back, in one step for those who wait at the gate.</summary>
    public void Give(Chunk* chain)
    {
        Chunk* first = null, last = null;
        long bytes = 0, pooledBytes = 0;
        for (Chunk* next; chain != null; chain = next)
        {
            next = chain->Next;
            long own = (long)chain->Capacity + Extra;
            bytes += own;
            if (chain->Capacity != _capacity)
            {
                NativeMemory.AlignedFree(chain);
                continue;
            }
            pooledBytes += own;
            chain->Next = first;
            first = chain;
            if (last == null)
                last = chain;
        }
        if (!TryKeep(first, last, bytes, pooledBytes))
            Free(first);
    }

    /// <summary>Adds to the account what is staged elsewhere, or takes it off again.</summary>
    public void Account(long bytes)
    {
        bool taken = false;
        _gate.Enter(ref taken);
        _stagedBytes += bytes;
        _gate.Exit(useMemoryBarrier: false);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Free(_free);
        _free = null;
    }

    private bool TryKeep(Chunk* first, Chunk* last, long bytes, long pooledBytes)
    {
        bool taken = false;
        _gate.Enter(ref taken);
        _stagedBytes -= bytes;
        bool keeps = first != null && _freeBytes + pooledBytes <= FreeBytesMax;
        if (keeps)
        {
            last->Next = _free;
            _free = first;
            _freeBytes += pooledBytes;
        }
        _gate.Exit(useMemoryBarrier: false);
        return keeps;
    }

    private static void Free(Chunk* chain)
    {
        while (chain != null)
        {
            Chunk* next = chain->Next;
            NativeMemory.AlignedFree(chain);
            chain = next;
        }
    }
}
