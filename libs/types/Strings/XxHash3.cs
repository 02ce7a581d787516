using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Garnet.Types.Strings;

/// <summary>
/// XXH3, 64 bits, seed 0, after its public specification (xxHash, doc/xxhash_spec.md): the framework's own package for it is
/// not to be had here. Scalar; used by DIGEST and the digest conditions only.
/// </summary>
public static class XxHash3
{
    private const ulong P32_1 = 0x9E3779B1, P32_2 = 0x85EBCA77, P32_3 = 0xC2B2AE3D;
    private const ulong P64_1 = 0x9E3779B185EBCA87, P64_2 = 0xC2B2AE3D27D4EB4F, P64_3 = 0x165667B19E3779F9, P64_4 = 0x85EBCA77C2B2AE63, P64_5 = 0x27D4EB2F165667C5;
    private const ulong PrimeMx1 = 0x165667919E3779F9, PrimeMx2 = 0x9FB21C651E98DF25;
    private const int StripeBytes = 64, SecretStep = 8, BlockStripes = 16;

    // The default secret of the specification.
    private static ReadOnlySpan<byte> Secret =>
    [
        0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
        0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
        0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
        0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
        0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
        0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
    ];

    /// <summary>The hash of the bytes.</summary>
    public static ulong Hash(ReadOnlySpan<byte> data) => data.Length switch
    {
        0 => Avalanche64(Word(Secret, 56) ^ Word(Secret, 64)),
        <= 3 => Hash1To3(data),
        <= 8 => Hash4To8(data),
        <= 16 => Hash9To16(data),
        <= 128 => Hash17To128(data),
        <= 240 => Hash129To240(data),
        _ => HashLong(data),
    };

    private static ulong Hash1To3(ReadOnlySpan<byte> data)
    {
        uint combined = ((uint)data[0] << 16) | ((uint)data[data.Length >> 1] << 24) | data[^1] | ((uint)data.Length << 8);
        uint flip = (uint)Half(Secret, 0) ^ (uint)Half(Secret, 4);
        return Avalanche64(combined ^ (ulong)flip);
    }

    private static ulong Hash4To8(ReadOnlySpan<byte> data)
    {
        ulong keyed = (Half(data, data.Length - 4) + (Half(data, 0) << 32)) ^ (Word(Secret, 8) ^ Word(Secret, 16));
        keyed ^= ulong.RotateLeft(keyed, 49) ^ ulong.RotateLeft(keyed, 24);
        keyed *= PrimeMx2;
        keyed ^= (keyed >> 35) + (ulong)data.Length;
        keyed *= PrimeMx2;
        return keyed ^ (keyed >> 28);
    }

    private static ulong Hash9To16(ReadOnlySpan<byte> data)
    {
        ulong low = Word(data, 0) ^ (Word(Secret, 24) ^ Word(Secret, 32));
        ulong high = Word(data, data.Length - 8) ^ (Word(Secret, 40) ^ Word(Secret, 48));
        ulong sum = (ulong)data.Length + BinaryPrimitives.ReverseEndianness(low) + high + Fold(low, high);
        return Avalanche(sum);
    }

    private static ulong Hash17To128(ReadOnlySpan<byte> data)
    {
        ulong sum = (ulong)data.Length * P64_1;
        for (int i = (data.Length - 1) / 32; i >= 0; i--)
        {
            sum += Mix16(data, i * 16, i * 32);
            sum += Mix16(data, data.Length - ((i + 1) * 16), (i * 32) + 16);
        }

        return Avalanche(sum);
    }

    private static ulong Hash129To240(ReadOnlySpan<byte> data)
    {
        ulong sum = (ulong)data.Length * P64_1;
        for (int i = 0; i < 8; i++)
            sum += Mix16(data, i * 16, i * 16);
        sum = Avalanche(sum);
        for (int i = 8; i < data.Length / 16; i++)
            sum += Mix16(data, i * 16, ((i - 8) * 16) + 3);
        return Avalanche(sum + Mix16(data, data.Length - 16, 136 - 17));
    }

    private static ulong HashLong(ReadOnlySpan<byte> data)
    {
        Span<ulong> sums = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
        const int BlockBytes = StripeBytes * BlockStripes;
        int blocks = (data.Length - 1) / BlockBytes;
        for (int block = 0; block < blocks; block++)
        {
            Accumulate(sums, data.Slice(block * BlockBytes, BlockBytes), BlockStripes);
            Scramble(sums);
        }

        ReadOnlySpan<byte> rest = data[(blocks * BlockBytes)..];
        Accumulate(sums, rest, (rest.Length - 1) / StripeBytes);
        AddStripe(sums, data[^StripeBytes..], Secret.Length - StripeBytes - 7);
        ulong result = (ulong)data.Length * P64_1;
        for (int i = 0; i < 4; i++)
            result += Fold(sums[i * 2] ^ Word(Secret, 11 + (i * 16)), sums[(i * 2) + 1] ^ Word(Secret, 19 + (i * 16)));
        return Avalanche(result);
    }

    private static void Accumulate(Span<ulong> sums, ReadOnlySpan<byte> data, int stripes)
    {
        for (int i = 0; i < stripes; i++)
            AddStripe(sums, data[(i * StripeBytes)..], i * SecretStep);
    }

    private static void AddStripe(Span<ulong> sums, ReadOnlySpan<byte> stripe, int secretAt)
    {
        for (int i = 0; i < 8; i++)
        {
            ulong value = Word(stripe, i * 8);
            ulong keyed = value ^ Word(Secret, secretAt + (i * 8));
            sums[i ^ 1] += value;
            sums[i] += (uint)keyed * (keyed >> 32);
        }
    }

    private static void Scramble(Span<ulong> sums)
    {
        for (int i = 0; i < 8; i++)
        {
            ulong sum = sums[i];
            sum ^= sum >> 47;
            sum ^= Word(Secret, Secret.Length - StripeBytes + (i * 8));
            sums[i] = sum * P32_1;
        }
    }

    private static ulong Mix16(ReadOnlySpan<byte> data, int at, int secretAt) => Fold(Word(data, at) ^ Word(Secret, secretAt), Word(data, at + 8) ^ Word(Secret, secretAt + 8));

    private static ulong Fold(ulong left, ulong right)
    {
        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }

    private static ulong Avalanche(ulong hash)
    {
        hash ^= hash >> 37;
        hash *= PrimeMx1;
        return hash ^ (hash >> 32);
    }

    private static ulong Avalanche64(ulong hash)
    {
        hash ^= hash >> 33;
        hash *= P64_2;
        hash ^= hash >> 29;
        hash *= P64_3;
        return hash ^ (hash >> 32);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Word(ReadOnlySpan<byte> data, int at) => BinaryPrimitives.ReadUInt64LittleEndian(data[at..]);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Half(ReadOnlySpan<byte> data, int at) => BinaryPrimitives.ReadUInt32LittleEndian(data[at..]);
}
