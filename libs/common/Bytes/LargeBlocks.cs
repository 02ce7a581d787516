using System.Runtime.InteropServices;

namespace Garnet.Common.Bytes;

/// <summary>
/// Large blocks of native memory that were given back a moment ago, kept for whoever wants one next, from any thread. Memory that is new costs a page fault
/// every 4 KiB, which is three times what it costs to receive or send those bytes. What nobody has wanted for a second or two goes back to the system.
/// Blocks come from the C library's allocator, and may be given back to it instead.
/// </summary>
public static unsafe class LargeBlocks
{
    /// <summary>Smaller blocks are the allocator's matter: it keeps them itself.</summary>
    public const long BytesMin = 128 << 10;

    private const long KeptBytesMin = 1 << 20, KeptBytesMost = 128 << 20;
    private const int KeptPart = 16, BlocksMax = 64, IdleMs = 1000;

    private static readonly Lock s_gate = new();
    private static readonly List<(nint Start, long Bytes)> s_kept = new(BlocksMax); // the one given back last stands last
    private static readonly long s_keptBytesMax =
        Math.Clamp(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / KeptPart, KeptBytesMin, KeptBytesMost);
    private static long s_keptBytes, s_leastBytes, s_lookedMs; // the least that was kept since the last look for what is idle

    /// <summary>Bytes of blocks that are nobody's now.</summary>
    public static long KeptBytes => Volatile.Read(ref s_keptBytes);

    /// <summary>A kept block of that size, up to twice of it; null if there is none.</summary>
    public static byte* TryTake(long bytesMin, out long bytes)
    {
        bytes = 0;
        if (bytesMin < BytesMin || KeptBytes == 0)
            return null;
        lock (s_gate)
        {
            int best = -1;
            for (int i = s_kept.Count - 1; i >= 0; i--)
            {
                if (s_kept[i].Bytes >= bytesMin && s_kept[i].Bytes / 2 <= bytesMin && (best < 0 || s_kept[i].Bytes < s_kept[best].Bytes))
                    best = i;
            }

            return best < 0 ? null : (byte*)Take(best, out bytes);
        }
    }

    /// <summary>A block of that size, or more: a kept one, or a new one.</summary>
    /// <exception cref="OutOfMemoryException">The system has none.</exception>
    public static byte* Take(long bytesMin, out long bytes)
    {
        byte* block = TryTake(bytesMin, out bytes);
        if (block != null)
            return block;
        bytes = bytesMin;
        return (byte*)NativeMemory.Alloc((nuint)bytesMin);
    }

    /// <summary>Takes back a block of the allocator's, or null.</summary>
    public static void Free(byte* block, long bytes)
    {
        if (bytes >= BytesMin && bytes <= s_keptBytesMax)
        {
            lock (s_gate)
            {
                while (s_kept.Count == BlocksMax || s_keptBytes + bytes > s_keptBytesMax)
                    Drop();
                s_kept.Add(((nint)block, bytes));
                Volatile.Write(ref s_keptBytes, s_keptBytes + bytes);
            }

            return;
        }

        NativeMemory.Free(block);
    }

    /// <summary>Gives to the system what nobody has wanted for a second or two; called every now and then while anything is kept.</summary>
    public static void FreeIdle(long nowMs)
    {
        lock (s_gate)
        {
            if (nowMs - s_lookedMs is >= 0 and < IdleMs)
                return;
            s_lookedMs = nowMs;
            for (long idle = s_leastBytes; idle > 0 && s_kept.Count > 0;)
                idle -= Drop();
            s_leastBytes = s_keptBytes;
        }
    }

    private static long Drop()
    {
        NativeMemory.Free((void*)Take(0, out long bytes));
        return bytes;
    }

    private static nint Take(int place, out long bytes)
    {
        (nint start, bytes) = s_kept[place];
        s_kept.RemoveAt(place);
        Volatile.Write(ref s_keptBytes, s_keptBytes - bytes);
        s_leastBytes = Math.Min(s_leastBytes, s_keptBytes);
        return start;
    }
}
