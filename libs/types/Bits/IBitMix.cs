using System.Numerics;

namespace Garnet.Types.Bits;

/// <summary>What becomes of the bits of two vectors.</summary>
public interface IBitMix
{
    static abstract Vector<byte> Of(Vector<byte> to, Vector<byte> from);
}
