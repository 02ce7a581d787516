namespace Tsavorite;

/// <summary>Whose time comes first goes first. The time stands in the record, which is touched to choose; the index word does not have it.</summary>
internal readonly unsafe struct NearestExpiry : IEvictionOrder
{
    public static bool IsByFrequency => false;

    public static bool SparesRead => false;

    public static bool Ages(ref ulong random) => false;

    public static long Score(StoreCore core, ulong word, ref ulong random) => Record.ExpireAtMs(core.Shape->Base + IndexWord.Offset(word));
}
