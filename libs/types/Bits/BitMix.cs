using System.Numerics;
using System.Runtime.InteropServices;

namespace Garnet.Types.Bits;

/// <summary>Combining byte arrays a vector at a time.</summary>
public static class BitMix
{
    /// <summary>Combines the front of <paramref name="to"/> with all of <paramref name="from"/>. The way is a type: a delegate cost as much as memory (BITOP of 1 MiB).</summary>
    public static void Merge<TMix>(Span<byte> to, ReadOnlySpan<byte> from) where TMix : struct, IBitMix
    {
        to = to[..from.Length];
        Span<Vector<byte>> vectors = MemoryMarshal.Cast<byte, Vector<byte>>(to);
        ReadOnlySpan<Vector<byte>> others = MemoryMarshal.Cast<byte, Vector<byte>>(from);
        for (int i = 0; i < vectors.Length; i++)
            vectors[i] = TMix.Of(vectors[i], others[i]);
        for (int i = vectors.Length * Vector<byte>.Count; i < to.Length; i++)
            to[i] = TMix.Of(new Vector<byte>(to[i]), new Vector<byte>(from[i]))[0];
    }

    public readonly struct And : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => to & from;
    }

    public readonly struct Or : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => to | from;
    }

    public readonly struct Xor : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => to ^ from;
    }

    /// <summary>What the second is not; the first does not matter.</summary>
    public readonly struct Not : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => ~from;
    }

    public readonly struct Without : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => to & ~from;
    }

    public readonly struct Only : IBitMix
    {
        public static Vector<byte> Of(Vector<byte> to, Vector<byte> from) => from & ~to;
    }

    /// <summary>Adds a source to those of which any bit was seen once, and several times.</summary>
    public static void Collect(Span<byte> once, Span<byte> several, ReadOnlySpan<byte> from)
    {
        for (int i = 0; i < from.Length; i++)
        {
            several[i] |= (byte)(once[i] & from[i]);
            once[i] |= from[i];
        }
    }
}
