using System.Buffers.Binary;
using System.Collections.Frozen;
using System.Numerics;
using Garnet.Aof.Format;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// A line that begins with a magic, then has a checksum, then what that is of. A checksum is linear, so that it says which byte is wrong where one is: such a line
/// is as good as a whole one. Of more wrong bytes it says only that there are some.
/// </summary>
internal static class PmLine
{
    private const int Bytes = IPmRange.LineBytes, CrcBytes = sizeof(uint), Values = 256;

    // By what a wrong byte does to the checksum: how far from the line's end it stands, and what it was changed by.
    private static readonly FrozenDictionary<uint, (int FromEnd, byte Change)> s_wrong = Wrong();

    /// <summary>The line as it was written; false if more than a byte of it is wrong, or it was never written.</summary>
    public static bool TryMend(ReadOnlySpan<byte> line, ReadOnlySpan<byte> magic, Span<byte> mended)
    {
        line[..Bytes].CopyTo(mended);
        magic.CopyTo(mended);
        int wrong = Differing(line, magic);
        Span<byte> sum = mended.Slice(magic.Length, CrcBytes), covered = mended[(magic.Length + CrcBytes)..Bytes];
        uint right = Crc32C.Of(covered), difference = right ^ BinaryPrimitives.ReadUInt32LittleEndian(sum);
        if (difference == 0)
            return wrong <= 1;
        if (wrong > 0 || IsBlank(line))
            return false;
        if (s_wrong.TryGetValue(difference, out (int FromEnd, byte Change) place) && place.FromEnd <= covered.Length)
        {
            covered[^place.FromEnd] ^= place.Change;
            return true;
        }
        BinaryPrimitives.WriteUInt32LittleEndian(sum, right);
        return IsOneByte(difference);
    }

    /// <summary>True if nothing was ever written there.</summary>
    public static bool IsBlank(ReadOnlySpan<byte> line) => !line[..Bytes].ContainsAnyExcept((byte)0);

    private static bool IsOneByte(uint bits) => BitOperations.Log2(bits) / 8 == BitOperations.TrailingZeroCount(bits) / 8;

    private static int Differing(ReadOnlySpan<byte> line, ReadOnlySpan<byte> magic)
    {
        int differing = 0;
        for (int i = 0; i < magic.Length; i++) differing += line[i] == magic[i] ? 0 : 1;
        return differing;
    }

    private static FrozenDictionary<uint, (int FromEnd, byte Change)> Wrong()
    {
        Dictionary<uint, (int FromEnd, byte Change)> wrong = [];
        Span<byte> line = stackalloc byte[Bytes];
        line.Clear();
        uint none = Crc32C.Of(line);
        for (int fromEnd = 1; fromEnd <= Bytes; fromEnd++)
        {
            for (int change = 1; change < Values; change++)
            {
                line[^fromEnd] = (byte)change;
                wrong[Crc32C.Of(line) ^ none] = (fromEnd, (byte)change);
            }
            line[^fromEnd] = 0;
        }
        return wrong.ToFrozenDictionary();
    }
}
