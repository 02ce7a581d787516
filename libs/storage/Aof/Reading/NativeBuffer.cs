using System.Runtime.InteropServices;

namespace Garnet.Aof.Reading;

/// <summary>
/// Memory outside the managed heap that can grow: it stays where it is while operations hold pointers into it, begins at
/// a multiple of 4,096, and has readable bytes behind its end, as the store wants of keys.
/// </summary>
internal sealed unsafe class NativeBuffer : IDisposable
{
    public const int Alignment = 4096;
    private const int SlackBytes = 64;

    public byte* Bytes { get; private set; }
    public long Capacity { get; private set; }

    /// <summary>
    /// Makes room for the bytes in all, keeping the first <paramref name="keep"/> ones; pointers from before are void then.
    /// </summary>
    public void Grow(long bytes, long keep)
    {
        if (bytes <= Capacity) return;
        long capacity = (bytes + Alignment - 1) & -Alignment;
        byte* fresh = (byte*)NativeMemory.AlignedAlloc((nuint)(capacity + SlackBytes), Alignment);
        NativeMemory.Clear(fresh + capacity, SlackBytes);
        if (keep > 0) Buffer.MemoryCopy(Bytes, fresh, capacity, keep);
        Dispose();
        Bytes = fresh;
        Capacity = capacity;
    }

    public void Dispose()
    {
        NativeMemory.AlignedFree(Bytes);
        Bytes = null;
        Capacity = 0;
    }
}
