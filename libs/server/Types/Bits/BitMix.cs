using System.Numerics;
using System.Runtime.InteropServices;

namespace Garnet.Server.Types.Bits;

/// <summary>Combining byte arrays a vector at a time.</summary>
internal static class BitMix
{
    /// <summary>Combines the front of <paramref name="to"/> with all of <paramref name="from"/>.</summary>
    internal static void Merge(Span<byte> to, ReadOnlySpan<byte> from, Func<Vector<byte>, Vector<byte>, Vector<byte>> wide, Func<byte, byte, byte> narrow)
    {
        to = to[..from.Length];
        Span<Vector<byte>> vectors = MemoryMarshal.Cast<byte, Vector<byte>>(to);
        ReadOnlySpan<Vector<byte>> others = MemoryMarshal.Cast<byte, Vector<byte>>(from);
        for (int i = 0; i < vectors.Length; i++)
            vectors[i] = wide(vectors[i], others[i]);
        for (int i = vectors.Length * Vector<byte>.Count; i < to.Length; i++)
            to[i] = narrow(to[i], from[i]);
    }

    /// <summary>Adds a source to those of which any bit was seen once, and several times.</summary>
    internal static void Collect(Span<byte> once, Span<byte> several, ReadOnlySpan<byte> from)
    {
        for (int i = 0; i < from.Length; i++)
        {
            several[i] |= (byte)(once[i] & from[i]);
            once[i] |= from[i];
        }
    }
}
