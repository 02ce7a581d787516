namespace Garnet.Aof.Test.Pm;

/// <summary>Ways in which a power cut may leave memory: all where they are few, each subset of lines where there are more, else some by chance.</summary>
internal static class PmImages
{
    // Words of a line that came: none, all, the first, all but the first, every second, the first half.
    private static readonly int[] s_words = [0, 0xFF, 0x01, 0xFE, 0x55, 0x0F];

    /// <summary>At most about so many images.</summary>
    public static IEnumerable<byte[]> Of(PmSim pm, int most)
    {
        IReadOnlyList<int> lines = pm.Unfenced;
        int kinds = Power(s_words.Length, lines.Count, most) > 0 ? s_words.Length : 2; // the first two: whole lines
        int all = Power(kinds, lines.Count, most);
        for (int number = 0; number < all; number++)
        {
            int[] masks = Digits(number, kinds, lines);
            yield return pm.Image((line, word) => (masks[IndexOf(lines, line)] >> word & 1) != 0 ? pm.StatesOf(line) : 0);
        }
        int chance = all == 0 ? most : lines.Any(line => pm.StatesOf(line) > 1) ? most / 8 : 0;
        for (int seed = 0; seed < chance; seed++) yield return pm.Image(seed);
    }

    private static int[] Digits(int number, int kinds, IReadOnlyList<int> lines)
    {
        int[] masks = new int[lines.Count];
        for (int i = 0; i < masks.Length; i++, number /= kinds) masks[i] = s_words[number % kinds];
        return masks;
    }

    // 0 = more than that.
    private static int Power(int kinds, int lines, int most)
    {
        long power = 1;
        for (int i = 0; i < lines && power <= most; i++) power *= kinds;
        return power <= most ? (int)power : 0;
    }

    private static int IndexOf(IReadOnlyList<int> lines, int line)
    {
        for (int i = 0; i < lines.Count; i++)
            if (lines[i] == line) return i;
        return -1;
    }
}
