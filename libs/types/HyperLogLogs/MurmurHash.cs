using System.Runtime.CompilerServices;

namespace Garnet.Types.HyperLogLogs;

/// <summary>MurmurHash2 with 64 bits and Redis's seed: the format of a HyperLogLog.</summary>
public static unsafe class MurmurHash
{
    private const ulong Seed = 0xADC83B19, Factor = 0xC6A4A7935BD1E995;
    private const int Shift = 47;

    public static ulong Of(byte* bytes, int length)
    {
        ulong hash = Seed ^ ((ulong)length * Factor);
        byte* end = bytes + (length & ~7);
        for (; bytes != end; bytes += 8)
        {
            ulong word = Unsafe.ReadUnaligned<ulong>(bytes) * Factor;
            word ^= word >> Shift;
            hash = (hash ^ (word * Factor)) * Factor;
        }

        int left = length & 7;
        if (left > 0)
        {
            ulong tail = 0;
            for (int i = left - 1; i >= 0; i--)
                tail = (tail << 8) | bytes[i];
            hash = (hash ^ tail) * Factor;
        }

        hash = (hash ^ (hash >> Shift)) * Factor;
        return hash ^ (hash >> Shift);
    }
}
