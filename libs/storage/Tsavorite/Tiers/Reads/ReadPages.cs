using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Memory that records are read to: pages that are there for the short ones, which most are, and for each longer one its own.</summary>
internal sealed unsafe class ReadPages : IDisposable
{
    private const int ShortBytes = 2 * ColdSegments.PageBytes;
    private readonly Stack<nint> _free = new();
    private readonly byte* _memory;

    /// <param name="count">Short reads under way at most.</param>
    public ReadPages(int count)
    {
        _memory = (byte*)NativeMemory.AlignedAlloc((nuint)count * ShortBytes, ColdSegments.PageBytes);
        for (int i = count - 1; i >= 0; i--) _free.Push((nint)(_memory + (i * ShortBytes)));
    }

    public nint Take(int bytes) =>
        bytes <= ShortBytes ? _free.Pop() : (nint)NativeMemory.AlignedAlloc((nuint)bytes, ColdSegments.PageBytes);

    public void GiveBack(nint to, int bytes)
    {
        if (bytes <= ShortBytes)
            _free.Push(to);
        else
            NativeMemory.AlignedFree((void*)to);
    }

    /// <summary>Behind the last <see cref="GiveBack"/>.</summary>
    public void Dispose() => NativeMemory.AlignedFree(_memory);
}
