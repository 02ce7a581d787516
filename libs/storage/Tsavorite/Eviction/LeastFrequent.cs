namespace Tsavorite;

/// <summary>Who was used least goes. Only every fourth choice takes a step of the frequency: past use weighs for longer, but not for ever.</summary>
internal readonly struct LeastFrequent : IEvictionOrder
{
    private const int ChoicesPerStep = 4;

    public static bool IsByFrequency => true;

    public static bool SparesRead => true;

    public static bool Ages(ref ulong random) => Scanner.Draw(ref random, ChoicesPerStep) == 0;

    public static long Score(StoreCore core, ulong word, ref ulong random) => IndexWord.Frequency(word);
}
