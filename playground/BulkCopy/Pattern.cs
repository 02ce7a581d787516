using System.Runtime.InteropServices;

namespace Garnet.BulkCopy;

/// <summary>Bytes that say where they belong.</summary>
internal static class Pattern
{
    private const ulong Step = 0x9e3779b97f4a7c15;

    public static void Fill(Span<byte> memory)
    {
        Span<ulong> words = MemoryMarshal.Cast<byte, ulong>(memory);
        for (int at = 0; at < words.Length; at++)
            words[at] = (ulong)at * Step;
    }

    public static bool Holds(ReadOnlySpan<byte> memory)
    {
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(memory);
        for (int at = 0; at < words.Length; at++)
        {
            if (words[at] != (ulong)at * Step)
                return false;
        }
        return true;
    }
}
