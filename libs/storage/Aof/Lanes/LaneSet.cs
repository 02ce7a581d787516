using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Garnet.Common;
using Garnet.Aof.Format;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Aof.Lanes;

/// <summary>
/// The lanes: where changes of the store wait for their batch to be closed, outside the managed heap, laid out as they
/// will stand in the file.
/// log.L1: a lane is written under its partition's lock, by plain stores.
/// log.L2: the buffer is chosen by the parity of the batch number that the writer names, never by the number open now.
/// log.L3: the open number is raised by one thread at a time, and not again before the buffers of the number before are
/// taken; so two buffers suffice.
/// log.L4: the buffers of a batch are taken only after every partition's lock was visited since the number was raised, so
/// nobody writes to them any more.
/// log.L5: what a batch holds can be read back: large changes are announced before they are made, and one that would take the batch
/// beyond <see cref="LogLimits.BatchBytesMax"/> is not; all sums of lengths are 64 bits wide.
/// </summary>
internal sealed unsafe class LaneSet : IDisposable
{
    private const int LineBytes = 64, LongLaneBytes = 64 << 10;

    private readonly ChunkPool _pool;
    private readonly int _batchBytes;
    // A line with the open batch's number, alone because everyone reads it, and the lanes behind it.
    private readonly NativeArray<byte> _memory;
    private readonly ulong* _open;
    private readonly LaneHalf* _halves;
    private long _leftBytes;
    // By the parity of the batch's number, as the buffers.
    private long _announcedEven, _announcedOdd;
    private Action? _onLong;
    private volatile bool _isLong;

    public LaneSet(int lanes, ulong batch, int batchBytes, ChunkPool pool)
    {
        Check.That(sizeof(LaneHalf) * 2 == LineBytes, "log.L2 a lane is one line");
        Count = lanes;
        _batchBytes = batchBytes;
        _pool = pool;
        _memory = new NativeArray<byte>((lanes + 1L) * LineBytes, LineBytes);
        _open = (ulong*)_memory.Items;
        *_open = batch;
        _halves = (LaneHalf*)((byte*)_open + LineBytes);
    }

    public int Count { get; }

    /// <summary>Number of the open batch.</summary>
    public ulong Batch
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref *_open);
    }

    /// <summary>True when the open batch should be closed for its size; set by the append that makes it so.</summary>
    public bool IsLong => _isLong;

    /// <summary>True when it is so large that it should be closed however much waits for the disk.</summary>
    public bool IsVeryLong => Volatile.Read(ref _leftBytes) + Volatile.Read(ref Announced(Batch)) > LogLimits.CloseBytes;

    /// <summary>
    /// log.L5: whoever holds the locks of a change to this batch says how many bytes it will write. False if the batch has no room: it is to
    /// be closed, which takes the locks. <paramref name="force"/>: store.U22, half of a command has been done.
    /// </summary>
    public bool TryAnnounce(ulong batch, long bytes, bool force = false)
    {
        ref long announced = ref Announced(batch);
        long most = force ? checked(LogLimits.BatchBytesMax + LogLimits.ForcedBytesMax) : LogLimits.BatchBytesMax;
        if (Interlocked.Add(ref announced, bytes) <= most || bytes < 0)
        {
            if (bytes >= _batchBytes)
                BecomeLong();
            return true;
        }
        Interlocked.Add(ref announced, -bytes);
        _isLong = true;
        _onLong?.Invoke();
        return false;
    }

    // log.L1, log.L2. Inlined into the only caller (LogBenchmark).
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Reserve(int lane, ulong batch, in KeyRef key, int bytesMax)
    {
        LaneHalf* half = Half(lane, batch);
        long needed = (long)EntryHeader.Bytes + key.Length + bytesMax;
        if (needed > half->Room)
            Extend(half, needed);
        byte* at = half->Cursor + EntryHeader.Bytes;
        // Whole vectors: behind a key and behind a chunk there is that much room, and what is too much is written over.
        for (int i = 0; i < key.Length; i += Vector128<byte>.Count) Vector128.Load(key.Bytes + i).Store(at + i);
        return new Span<byte>(at + key.Length, bytesMax);
    }

    // log.L1, log.L2. Inlined into the only caller (LogBenchmark).
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Append(int lane, ulong batch, in EntryHeader header)
    {
        LaneHalf* half = Half(lane, batch);
        header.Write(new Span<byte>(half->Cursor, EntryHeader.Bytes));
        half->Cursor += header.EntryBytes;
        half->Room -= (int)header.EntryBytes;
        half->Entries++;
        // The lane's next lines were last seen by the core that wrote the file; ask for them before they are needed (LogBenchmark: 2 ns).
        if (Sse.IsSupported)
            Sse.Prefetch0(half->Cursor + LineBytes);
        if (Sse.IsSupported)
            Sse.Prefetch0(half->Cursor + 2 * LineBytes);
    }

    /// <summary>Sets what is called, under a partition's lock, when the open batch becomes long.</summary>
    public void OnLong(Action onLong) => _onLong = onLong;

    /// <summary>
    /// Whether anything was written to the open batch, without a lock: a writer that is just at it may be overlooked, but
    /// not one whose nudge came before.
    /// </summary>
    public bool HasEntries()
    {
        ulong batch = Batch;
        for (int lane = 0; lane < Count; lane++)
        {
            if (Volatile.Read(ref Half(lane, batch)->Entries) != 0)
                return true;
        }
        return false;
    }

    /// <summary>Opens the next batch and returns the number of the one before, whose buffers are to be taken (log.L3).</summary>
    public ulong Raise()
    {
        ulong batch = *_open;
        _isLong = false;
        Volatile.Write(ref _leftBytes, 0);
        Volatile.Write(ref Announced(batch + 1), 0);
        Volatile.Write(ref *_open, batch + 1);
        return batch;
    }

    /// <summary>A log that follows: the batch before has been received, not written here.</summary>
    public void MoveTo(ulong batch) => Volatile.Write(ref *_open, batch);

    /// <summary>Takes what the lane holds of a batch that is no longer open, under the partition's lock (log.L4); false if nothing.</summary>
    public bool TryTake(int lane, ulong batch, out LaneTake take)
    {
        LaneHalf* half = Half(lane, batch);
        take = default;
        if (half->Entries == 0)
            return false;
        Leave(half);
        long bytes = half->Tail->Before + half->Tail->Used;
        take = new LaneTake { Lane = (ushort)lane, Entries = half->Entries, Bytes = bytes, Head = half->Head };
        *half = default;
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        for (int half = 0; half < Count * 2; half++) _pool.Give(_halves[half].Head);
        _memory.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private LaneHalf* Half(int lane, ulong batch) => _halves + (lane * 2 + (int)(batch & 1));

    private ref long Announced(ulong batch) => ref (batch & 1) == 0 ? ref _announcedEven : ref _announcedOdd;

    private static void Leave(LaneHalf* half) => half->Tail->Used = (int)(half->Cursor - Chunk.Start(half->Tail));

    // Expiry and eviction write and nudge nobody; a batch must not grow for ever because of it.
    private void BecomeLong()
    {
        if (_isLong)
            return;
        _isLong = true;
        _onLong?.Invoke();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Extend(LaneHalf* half, long needed)
    {
        Check.That(needed is > 0 and <= LogLimits.BatchBytesMax, "log.L5 an entry fits into a batch");
        Chunk* next = _pool.Take((int)needed), tail = half->Tail;
        if (tail == null)
            half->Head = next;
        else
        {
            Leave(half);
            tail->Next = next;
            next->Before = tail->Before + tail->Used;
            long left = Interlocked.Add(ref _leftBytes, tail->Used);
            if (next->Before >= LongLaneBytes || left >= _batchBytes)
                BecomeLong();
        }
        half->Tail = next;
        half->Cursor = Chunk.Start(next);
        half->Room = next->Capacity;
    }
}
