using System.Globalization;
using System.Text;

namespace Garnet.Host;

/// <summary>
/// Splits a line into words as redis.conf does: blanks separate; double quotes keep blanks and know <c>\n \r \t \b \a
/// \xHH \"</c>; single quotes keep everything but <c>\'</c>; a closing quote must end its word.
/// </summary>
internal static class ConfigWords
{
    public static bool TrySplit(string line, List<string> words)
    {
        var word = new StringBuilder();
        int at = 0;
        while (true)
        {
            while (at < line.Length && char.IsWhiteSpace(line[at])) at++;
            if (at >= line.Length)
                return true;
            word.Clear();
            bool whole = line[at] switch
            {
                '"' => ReadDouble(line, ref at, word),
                '\'' => ReadSingle(line, ref at, word),
                _ => ReadPlain(line, ref at, word),
            };
            if (!whole)
                return false;
            words.Add(word.ToString());
        }
    }

    /// <summary>The word as a line must hold it, so that <see cref="TrySplit"/> gives it back.</summary>
    public static string Quote(string word)
    {
        if (word.Length > 0 && !word.Any(NeedsQuotes))
            return word;
        var quoted = new StringBuilder("\"", word.Length + 8);
        foreach (char letter in word)
        {
            string? escape = letter switch
            {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                '\r' => "\\r",
                '\t' => "\\t",
                '\a' => "\\a",
                '\b' => "\\b",
                < ' ' or '\x7f' or '\x85' => string.Create(CultureInfo.InvariantCulture, $"\\x{(int)letter:x2}"),
                _ => null,
            };
            if (escape is null)
                quoted.Append(letter);
            else quoted.Append(escape);
        }
        return quoted.Append('"').ToString();
    }

    private static bool NeedsQuotes(char letter) =>
        letter is '"' or '\'' or '\\' or '#' || char.IsWhiteSpace(letter) || char.IsControl(letter);

    private static bool ReadPlain(string line, ref int at, StringBuilder word)
    {
        while (at < line.Length && !char.IsWhiteSpace(line[at]))
        {
            if (line[at] == '"')
                return ReadDouble(line, ref at, word);
            if (line[at] == '\'')
                return ReadSingle(line, ref at, word);
            word.Append(line[at++]);
        }
        return true;
    }

    private static bool ReadDouble(string line, ref int at, StringBuilder word)
    {
        for (at++; at < line.Length; at++)
        {
            if (line[at] == '"')
                return Ends(line, ref at);
            if (line[at] == '\\' && at + 1 < line.Length)
                word.Append(Escaped(line, ref at));
            else word.Append(line[at]);
        }
        return false;
    }

    private static bool ReadSingle(string line, ref int at, StringBuilder word)
    {
        for (at++; at < line.Length; at++)
        {
            if (line[at] == '\'')
                return Ends(line, ref at);
            if (line[at] == '\\' && at + 1 < line.Length && line[at + 1] == '\'')
                at++;
            word.Append(line[at]);
        }
        return false;
    }

    private static bool Ends(string line, ref int at) => ++at >= line.Length || char.IsWhiteSpace(line[at]);

    private static char Escaped(string line, ref int at)
    {
        char letter = line[++at];
        if (letter == 'x' && at + 2 < line.Length
            && byte.TryParse(line.AsSpan(at + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out byte code))
        {
            at += 2;
            return (char)code;
        }
        return letter switch { 'n' => '\n', 'r' => '\r', 't' => '\t', 'b' => '\b', 'a' => '\a', _ => letter };
    }
}
