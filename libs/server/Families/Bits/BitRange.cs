using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bits;

/// <summary>A range of a string in bytes or bits, both ends included; negative ones count from the end.</summary>
internal struct BitRange
{
    internal long Start;
    internal long Stop;
    internal bool InBits;

    /// <summary>Reads BYTE or BIT.</summary>
    internal bool TryUnit(ref Call call, int index)
    {
        InBits = call.Is(index, "BIT"u8);
        return InBits || call.Is(index, "BYTE"u8);
    }

    /// <summary>The first bit and the number of bits in a string of that many bytes.</summary>
    internal readonly (long From, long Count) Of(int bytes)
    {
        long length = InBits ? (long)bytes * 8 : bytes;
        long start = Start < 0 ? Math.Max(Start + length, 0) : Start;
        long stop = Math.Min(Stop < 0 ? Math.Max(Stop + length, 0) : Stop, length - 1);
        if (start > stop)
            return (0, 0);
        return InBits ? (start, stop - start + 1) : (start * 8, (stop - start + 1) * 8);
    }
}
