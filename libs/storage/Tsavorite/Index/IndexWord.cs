using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// One entry of the index, 64 bits: 0-35 address in 8-byte units (of a cold record in units of 16, <see cref="ColdAddress"/>), 36-37 tier, 38 has expiry, 39-40 access frequency,
/// 41 internal (a chunk), 42-63 tag. Zero is empty. The word is the only commit point of a change (store.U4); two words
/// name the same state when they are equal but for the frequency, which readers raise at will (store.U1).
/// </summary>
internal static class IndexWord
{
    public const ulong AddressMask = (1UL << 36) - 1;
    public const int TierShift = 36, FrequencyShift = 39, TagShift = 42, TagBits = 22;
    public const ulong TierMask = 3UL << TierShift, Dram = 0, Extent = 1UL << TierShift, Ssd = ColdBit;
    /// <summary>The record does not lie in memory: the address is one of its tier.</summary>
    public const ulong ColdBit = 2UL << TierShift;
    public const ulong TtlBit = 1UL << 38, FrequencyMask = 3UL << FrequencyShift, FrequencyOne = 1UL << FrequencyShift;
    public const ulong InternalBit = 1UL << 41, TagMask = ~0UL << TagShift;

    /// <summary>Byte offset in the arena.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Offset(ulong word) => (word & AddressMask) << 3;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsCold(ulong word) => (word & ColdBit) != 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Frequency(ulong word) => (int)(word >> FrequencyShift) & 3;

    /// <summary>A word with frequency 0. <paramref name="tag"/> holds the tag in its topmost bits, anything below.</summary>
    public static ulong Make(ulong tag, ulong offset, ulong tier, in NewRecord next) =>
        (tag & TagMask) | tier | offset >> 3 | (next.ExpireAtMs != 0 ? TtlBit : 0) | (next.Kind == RecordKind.Chunk ? InternalBit : 0);

    /// <summary>The same state, whatever the frequency.</summary>
    public static bool Same(ulong left, ulong right) => ((left ^ right) & ~FrequencyMask) == 0;
}
