using System.Globalization;

namespace Garnet.Replication;

/// <summary>Moments as clients carry them: <c>term:batch</c>, and who began the term if that is known.</summary>
public static class Tokens
{
    public static string Text(uint term, ulong batch, uint owner = 0) =>
        owner == 0
            ? string.Create(CultureInfo.InvariantCulture, $"{term}:{batch}")
            : string.Create(CultureInfo.InvariantCulture, $"{term}:{batch}:{owner:x8}");

    public static bool TryParse(string text, out uint term, out ulong batch, out uint owner)
    {
        (batch, owner) = (0, 0);
        string[] words = text.Split(':');
        return uint.TryParse(words[0], NumberStyles.None, CultureInfo.InvariantCulture, out term) && words.Length is 2 or 3
            && ulong.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out batch)
            && (words.Length == 2 || (words[2].Length == 8
                && uint.TryParse(words[2], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out owner)));
    }
}
