using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// The seeded hash of key bytes: 16 bytes per step, folded by a 64 x 64 to 128 bit multiplication. Not
/// cryptographic; the seed is random per store, so that nobody can prepare colliding keys without having seen it.
/// </summary>
internal static unsafe class KeyHash
{
    private const ulong First = 0xA0761D6478BD642F, Second = 0xE7037ED1A0B428DB, Third = 0x8EBC6AF09C88C6E3;
    /// <summary>Spreads namespace numbers over the whole hash.</summary>
    public const ulong NamespaceFactor = 0x9E3779B97F4A7C15;

    /// <summary>Reads up to 16 bytes behind the key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Of(byte* key, int length, ulong seed)
    {
        if (length > 16)
            return OfLong(key, length, seed);
        ulong low = 0, high = 0;
        if (length >= 8)
        {
            low = *(ulong*)key;
            high = *(ulong*)(key + length - 8);
        }
        else if (length != 0)
        {
            low = *(ulong*)key << (64 - length * 8);
        }
        return Finish(low, high, length, seed);
    }

    /// <summary>The same bytes lie elsewhere in each namespace.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Mix(ulong bytesHash, uint ns) =>
        StoreTestHooks.Has(PlantedFault.SkipHashMixOfNamespace) ? bytesHash : bytesHash ^ ns * NamespaceFactor;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong OfLong(byte* key, int length, ulong seed)
    {
        ulong state = seed;
        byte* last = key + length - 16;
        for (; key < last; key += 16) state = Fold(*(ulong*)key ^ Second ^ seed, *(ulong*)(key + 8) ^ state);
        return Finish(*(ulong*)last, *(ulong*)(last + 8), length, state);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Finish(ulong low, ulong high, int length, ulong state) =>
        Fold(Third ^ (ulong)length, Fold(low ^ First ^ state, high ^ Second ^ (state << 32 | state >> 32)));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Fold(ulong left, ulong right)
    {
        ulong high = Math.BigMul(left, right, out ulong low);
        return high ^ low;
    }
}
