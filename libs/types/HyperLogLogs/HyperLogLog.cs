using System.Buffers.Binary;

namespace Garnet.Types.HyperLogLogs;

/// <summary>
/// The string that holds a HyperLogLog, byte for byte as Redis writes it, so that values can be carried from one to the other: "HYLL",
/// the encoding (0 dense, 1 sparse), three unused bytes, the cardinality last worked out (8 bytes, little endian; the highest bit says
/// that it no longer holds), then 16,384 registers of six bits. Dense: one behind the other, lowest bits first. Sparse: runs, see
/// <see cref="SparseRegisters"/>.
/// </summary>
public static class HyperLogLog
{
    public const int Registers = 1 << IndexBits, HeaderBytes = 16, DenseBytes = HeaderBytes + (Registers * RegisterBits / 8);
    public const int RegisterBits = 6, RegisterMax = (1 << RegisterBits) - 1, IndexBits = 14, HashBits = 64 - IndexBits;
    public const int CardinalityOffset = 8, EmptyBytes = HeaderBytes + 2;
    private const int EncodingOffset = 4;
    private const byte Dense = 0, Sparse = 1, Stale = 0x80;

    private static ReadOnlySpan<byte> Magic => "HYLL"u8;

    /// <summary>True if the string may be a HyperLogLog; its registers may still be damaged.</summary>
    public static bool Is(ReadOnlySpan<byte> value) =>
        value.Length >= HeaderBytes && value.StartsWith(Magic) && value[EncodingOffset] <= Sparse
            && (value[EncodingOffset] == Sparse || value.Length == DenseBytes);

    public static bool IsDense(ReadOnlySpan<byte> value) => value[EncodingOffset] == Dense;

    /// <summary>Writes one without elements; returns its length.</summary>
    public static int WriteEmpty(Span<byte> to)
    {
        to[..HeaderBytes].Clear();
        Magic.CopyTo(to);
        to[EncodingOffset] = Sparse;
        to[HeaderBytes] = 0x7F; // 16,384 zeros in a row
        to[HeaderBytes + 1] = 0xFF;
        return EmptyBytes;
    }

    /// <summary>Makes the header that of a dense one, all registers zero.</summary>
    public static void BeginDense(ReadOnlySpan<byte> header, Span<byte> to)
    {
        header[..HeaderBytes].CopyTo(to);
        to[EncodingOffset] = Dense;
        to[HeaderBytes..DenseBytes].Clear();
    }

    /// <summary>The cardinality that is written down, if it still holds.</summary>
    public static bool TryCached(ReadOnlySpan<byte> value, out long cardinality)
    {
        cardinality = BinaryPrimitives.ReadInt64LittleEndian(value[CardinalityOffset..]);
        return cardinality >= 0;
    }

    /// <summary>Says that the cardinality written down no longer holds.</summary>
    public static void Invalidate(Span<byte> value) => value[HeaderBytes - 1] |= Stale;

    /// <summary>The register that an element counts in, and the number it would raise it to.</summary>
    public static unsafe (int Index, int Count) Place(byte* element, int length)
    {
        ulong hash = MurmurHash.Of(element, length);
        ulong rest = (hash >> IndexBits) | (1UL << HashBits);
        return ((int)(hash & (Registers - 1)), System.Numerics.BitOperations.TrailingZeroCount(rest) + 1);
    }

    /// <summary>Raises each of so many bytes to the register's value, if that is higher; false if the registers are damaged.</summary>
    public static bool TryMerge(ReadOnlySpan<byte> value, Span<byte> registers)
    {
        if (!IsDense(value))
            return SparseRegisters.TryMerge(value[HeaderBytes..], registers);
        DenseRegisters.Merge(value[HeaderBytes..], registers);
        return true;
    }

    /// <summary>
    /// Raises a register of a value that lies in memory with room for a dense one, which it becomes if it no longer fits into
    /// the sparse form. 1: raised, 0: it was as high, -1: damaged.
    /// </summary>
    public static int Raise(Span<byte> room, ref int length, (int Index, int Count) place, int sparseBytesMax)
    {
        if (IsDense(room))
            return DenseRegisters.TryRaise(room[HeaderBytes..DenseBytes], place.Index, place.Count) ? 1 : 0;
        int result = SparseRegisters.Raise(room, ref length, place, sparseBytesMax);
        if (result != SparseRegisters.TooLarge)
            return result;
        return TryMakeDense(room, ref length) ? Raise(room, ref length, place, sparseBytesMax) : -1;
    }

    /// <summary>Turns a sparse one into a dense one; false if it is damaged.</summary>
    public static bool TryMakeDense(Span<byte> room, ref int length)
    {
        Span<byte> registers = stackalloc byte[Registers];
        registers.Clear();
        if (!SparseRegisters.TryMerge(room[HeaderBytes..length], registers))
            return false;
        BeginDense(room, room);
        DenseRegisters.Write(registers, room[HeaderBytes..]);
        length = DenseBytes;
        return true;
    }
}
