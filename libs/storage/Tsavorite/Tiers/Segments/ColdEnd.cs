using System.Numerics;

namespace Tsavorite;

/// <summary>
/// What tells the last page of a segment, as it was written, from what lay there before. The head alone does not: a copy of the file from when the segment was
/// still being filled has the same one. Two checksums (CRC32C), each of every other eight bytes: a bit that flips harms one of them, and another page both, so
/// that a page that is damaged is not taken for an older one.
/// </summary>
internal static unsafe class ColdEnd
{
    private const int Words = ColdSegments.PageBytes / sizeof(ulong);

    /// <summary>Where the page begins in its segment, by the bytes that records have there.</summary>
    public static int PageAt(int used) => (used - 1) & ~(ColdSegments.PageBytes - 1);

    /// <summary>The mark of the page.</summary>
    public static ulong MarkOf(byte* page)
    {
        uint even = ~0u, odd = ~0u;
        for (ulong* next = (ulong*)page, end = next + Words; next < end; next += 2)
        {
            even = BitOperations.Crc32C(even, next[0]);
            odd = BitOperations.Crc32C(odd, next[1]);
        }
        return ((ulong)~odd << 32) | ~even;
    }

    /// <summary>What lies there instead of the page that had the mark.</summary>
    public static ColdHeadState Judge(byte* page, ulong mark)
    {
        ulong differs = MarkOf(page) ^ mark;
        if (differs == 0)
            return ColdHeadState.Named;
        bool isHalf = (uint)differs == 0 || differs >> 32 == 0;
        bool isEmpty = new ReadOnlySpan<byte>(page, ColdSegments.PageBytes).IndexOfAnyExcept((byte)0) < 0;
        return isHalf && !isEmpty ? ColdHeadState.Damaged : ColdHeadState.Other;
    }
}
