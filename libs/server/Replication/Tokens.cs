using System.Globalization;

namespace Garnet.Server.Replication;

/// <summary>Moments as clients carry them: <c>term:batch</c>.</summary>
internal static class Tokens
{
    internal static string Text(uint term, ulong batch) => string.Create(CultureInfo.InvariantCulture, $"{term}:{batch}");

    internal static bool TryParse(string text, out uint term, out ulong batch)
    {
        batch = 0;
        string[] words = text.Split(':');
        return uint.TryParse(words[0], NumberStyles.None, CultureInfo.InvariantCulture, out term) && words.Length == 2
            && ulong.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out batch);
    }
}
