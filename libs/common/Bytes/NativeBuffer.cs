using System.Runtime.InteropServices;
using Garnet.Common.Faults;

namespace Garnet.Common;

/// <summary>
/// Memory outside the managed heap that can grow: it stays where it is while operations hold pointers into it, begins at
/// a multiple of 4,096, and has readable bytes behind its end, as the store wants of keys. For what may be large: it is free as soon as
/// it is disposed of, where an array would stay until a collection that an embedded server may never have.
///
/// common.N1  What is asked of a buffer lies in it.
/// </summary>
public sealed unsafe class NativeBuffer : IDisposable
{
    public const int Alignment = 4096;
    private const int SlackBytes = 64;

    /// <summary>Where it begins; null while it has no room.</summary>
    public byte* Bytes { get; private set; }

    /// <summary>Bytes there is room for.</summary>
    public long Capacity { get; private set; }

    /// <summary>Some of its bytes, valid until it grows.</summary>
    public Span<byte> Span(long start, long bytes)
    {
        Check.That(start >= 0 && bytes >= 0 && start + bytes <= Capacity, "common.N1 what is asked of a buffer lies in it");
        return new Span<byte>(Bytes + start, checked((int)bytes));
    }

    /// <summary>
    /// Makes room for the bytes in all, keeping the first <paramref name="keep"/> ones; pointers from before are void then.
    /// </summary>
    public void Grow(long bytes, long keep)
    {
        if (bytes <= Capacity)
            return;
        long capacity = (bytes + Alignment - 1) & -Alignment;
        byte* fresh = (byte*)NativeMemory.AlignedAlloc((nuint)(capacity + SlackBytes), Alignment);
        NativeMemory.Clear(fresh + capacity, SlackBytes);
        if (keep > 0)
            Buffer.MemoryCopy(Bytes, fresh, capacity, keep);
        Dispose();
        Bytes = fresh;
        Capacity = capacity;
    }

    /// <summary>Frees its memory; it may grow again.</summary>
    public void Dispose()
    {
        NativeMemory.AlignedFree(Bytes);
        Bytes = null;
        Capacity = 0;
    }
}
