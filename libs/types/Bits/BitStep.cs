using System.Runtime.InteropServices;

namespace Garnet.Types.Bits;

/// <summary>One step of BITFIELD; its bytes are what the log keeps, 24 of them.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1, Size = EncodedBytes)]
public struct BitStep
{
    public const int EncodedBytes = 24;

    public long Offset;
    public long Value;
    public byte Bits;
    public byte Signed;
    public BitAction Action;
    public BitOverflow Overflow;

    public readonly bool IsValid =>
        Offset >= 0 && Bits is > 0 and <= 64 && Signed <= 1 && Action <= BitAction.Add && Overflow <= BitOverflow.Fail
            && (Offset + Bits + 7) >> 3 <= int.MaxValue;

    /// <summary>Bytes of a string that has all of the number.</summary>
    public readonly int BytesNeeded => (int)((Offset + Bits + 7) >> 3);

    /// <summary>The number that is there.</summary>
    public readonly long Read(ReadOnlySpan<byte> bytes)
    {
        ulong raw = Bitmap.Read(bytes, Offset, Bits);
        return Signed != 0 ? (long)(raw << (64 - Bits)) >> (64 - Bits) : (long)raw;
    }

    // Redis takes a number that is set, and lies so far below that the distance overflows, for one above.
    private readonly bool IsFarBelow(Int128 distance) => Action == BitAction.Set && Signed != 0 && distance > long.MaxValue;

    /// <summary>Runs the step; false if the number does not fit and the step is to fail.</summary>
    public readonly bool TryRun(Span<byte> bytes, out long result)
    {
        long old = Read(bytes);
        result = old;
        if (Action == BitAction.Get)
            return true;
        Int128 wanted = Action == BitAction.Add ? (Int128)old + Value : Signed != 0 ? Value : (ulong)Value;
        Int128 least = Signed != 0 ? -((Int128)1 << (Bits - 1)) : 0, most = ((Int128)1 << (Bits - Signed)) - 1;
        bool fits = wanted >= least && wanted <= most;
        if (!fits && Overflow == BitOverflow.Fail)
            return false;
        if (!fits && Overflow == BitOverflow.Saturate)
            wanted = wanted < least && !IsFarBelow(most - wanted) ? least : most;
        Bitmap.Write(bytes, Offset, Bits, (ulong)(UInt128)wanted);
        if (Action == BitAction.Add)
            result = Read(bytes);
        return true;
    }
}
