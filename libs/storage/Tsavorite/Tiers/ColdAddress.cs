namespace Tsavorite;

/// <summary>Where a cold record lies: bytes of the medium in units of 16, as the index word has them (1 TiB at most).</summary>
internal static class ColdAddress
{
    public const int UnitShift = 4, UnitBytes = 1 << UnitShift;
    public const long BytesMax = 1L << (36 + UnitShift);

    /// <summary>The word that names the record at an offset of the medium, otherwise like <paramref name="word"/>; frequency 0.</summary>
    public static ulong Word(ulong word, long offset) =>
        (word & (IndexWord.TagMask | IndexWord.InternalBit | IndexWord.TtlBit)) | IndexWord.Ssd | (ulong)offset >> UnitShift;

    public static long Offset(ulong word) => (long)((word & IndexWord.AddressMask) << UnitShift);

    /// <summary>The word without what readers raise in it: what a cold record is known by.</summary>
    public static ulong Name(ulong word) => word & ~IndexWord.FrequencyMask;
}
