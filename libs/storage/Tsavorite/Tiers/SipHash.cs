using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// SipHash (J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012): 64 bits that nobody can tell of any bytes who has not the key of 128, whatever
/// others he has seen the ones of. It goes on from part to part; if any but the last has no whole words of 8 bytes, it is the hash of nothing.
/// </summary>
internal unsafe struct SipHash(ulong first, ulong second, int rounds, int lastRounds)
{
    private const int WordBytes = sizeof(ulong);
    private ulong _v0 = first ^ 0x736F6D6570736575, _v1 = second ^ 0x646F72616E646F6D;
    private ulong _v2 = first ^ 0x6C7967656E657261, _v3 = second ^ 0x7465646279746573;
    private ulong _bytes, _rest;

    /// <summary>A word follows.</summary>
    public void Add(ulong word) => Add((byte*)&word, WordBytes);

    /// <summary>So many bytes follow.</summary>
    public void Add(byte* from, long bytes)
    {
        (ulong v0, ulong v1, ulong v2, ulong v3) = (_v0, _v1, _v2, _v3);
        byte* next = from, end = from + bytes;
        for (; end - next >= WordBytes; next += WordBytes)
        {
            ulong word = *(ulong*)next;
            v3 ^= word;
            for (int i = 0; i < rounds; i++) Round(ref v0, ref v1, ref v2, ref v3);
            v0 ^= word;
        }
        (_v0, _v1, _v2, _v3) = (v0, v1, v2, v3);
        _bytes += (ulong)bytes;
        for (int shift = 0; next < end; next++, shift += 8) _rest |= (ulong)*next << shift;
    }

    /// <summary>Nothing follows.</summary>
    public readonly ulong End()
    {
        (ulong v0, ulong v1, ulong v2, ulong v3) = (_v0, _v1, _v2, _v3);
        ulong word = _rest | _bytes << 56;
        v3 ^= word;
        for (int i = 0; i < rounds; i++) Round(ref v0, ref v1, ref v2, ref v3);
        v0 ^= word;
        v2 ^= 0xFF;
        for (int i = 0; i < lastRounds; i++) Round(ref v0, ref v1, ref v2, ref v3);
        return v0 ^ v1 ^ v2 ^ v3;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // SipHashTests.What_it_costs: the state stays in registers
    private static void Round(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        v0 += v1;
        v1 = BitOperations.RotateLeft(v1, 13) ^ v0;
        v0 = BitOperations.RotateLeft(v0, 32);
        v2 += v3;
        v3 = BitOperations.RotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = BitOperations.RotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = BitOperations.RotateLeft(v1, 17) ^ v2;
        v2 = BitOperations.RotateLeft(v2, 32);
    }
}
