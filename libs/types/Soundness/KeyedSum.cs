using System.Runtime.InteropServices;
using Garnet.Common.Linux;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>
/// Tells whether two parts of a value hold the same, though each in its own order: the sums of hashes of all that they hold are equal. The
/// hashes are keyed by numbers of this process that nobody else knows, so nobody can choose what would have the same sum.
/// </summary>
public static unsafe class KeyedSum
{
    private const ulong Odd = 0x9E3779B97F4A7C15;

    private static readonly ulong[] Keys = MemoryMarshal.Cast<byte, ulong>(Libc.RandomBytes(3 * sizeof(ulong))).ToArray();

    /// <summary>Of bytes alone: two that differ have the same about never.</summary>
    public static ulong Of(byte* bytes, int length) => RecordEdit.Hash(bytes, length, Keys[0]);

    public static ulong Of(byte* bytes, int length, double score) =>
        Of(RecordEdit.Hash(bytes, length, Keys[0]), BitConverter.DoubleToUInt64Bits(score + 0.0)); // both zeros are one

    public static ulong Of(ulong first, ulong second)
    {
        ulong high = Math.BigMul(first ^ Keys[1], second ^ Keys[2], out ulong low);
        high = Math.BigMul(high ^ low ^ Keys[0], Odd, out low);
        return high ^ low;
    }

    public static ulong Of(ulong first, ulong second, StreamId id) => Of(Of(first, second), Of(id.Ms, id.Seq));
}
