namespace Tsavorite;

/// <summary>Who has not been used for longest goes: what was used gets a second chance, which every choice shortens.</summary>
internal readonly struct LeastRecent : IEvictionOrder
{
    public static bool IsByFrequency => false;

    public static bool SparesRead => true;

    public static bool Ages(ref ulong random) => true;

    public static long Score(StoreCore core, ulong word, ref ulong random) => IndexWord.Frequency(word);
}
