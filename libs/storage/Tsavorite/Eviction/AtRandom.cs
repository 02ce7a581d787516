namespace Tsavorite;

/// <summary>Chance decides who goes.</summary>
internal readonly struct AtRandom : IEvictionOrder
{
    public static bool IsByFrequency => false;

    public static bool SparesRead => false;

    public static bool Ages(ref ulong random) => false;

    public static long Score(StoreCore core, ulong word, ref ulong random) => (long)Scanner.Draw(ref random, 1 << 30);
}
