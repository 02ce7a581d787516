using System.Globalization;
using System.Text;

namespace Garnet.Wire;

/// <summary>Readable text for arbitrary bytes (held as Latin-1): printable ASCII stands for itself, the rest is escaped.</summary>
internal static class Quoted
{
    public static string Quote(string text) => "\"" + Escape(text).Replace("\"", "\\\"", StringComparison.Ordinal) + "\"";

    public static string Escape(string text)
    {
        StringBuilder escaped = new();
        foreach (char c in text)
        {
            escaped.Append(c switch
            {
                '\\' => "\\\\",
                '\r' => "\\r",
                '\n' => "\\n",
                '\t' => "\\t",
                < ' ' or > '~' => "\\x" + ((int)c).ToString("x2", CultureInfo.InvariantCulture),
                _ => c.ToString(),
            });
        }
        return escaped.ToString();
    }

    /// <summary>The escaped text with a blank at the end made visible, since lines of a transcript are trimmed.</summary>
    public static string EscapeLine(string text)
    {
        string escaped = Escape(text);
        return escaped.EndsWith(' ') ? escaped[..^1] + "\\x20" : escaped;
    }

    public static string Unescape(string text)
    {
        StringBuilder plain = new();
        for (int i = 0; i < text.Length; i++)
        {
            if (text[i] != '\\' || i + 1 == text.Length) plain.Append(text[i]);
            else plain.Append(One(text, ref i));
        }
        return plain.ToString();
    }

    /// <summary>Splits a line at blanks; a word in double quotes may hold blanks and escapes.</summary>
    public static List<string> Words(string line)
    {
        List<string> words = [];
        int at = 0;
        while (true)
        {
            while (at < line.Length && line[at] == ' ') at++;
            if (at == line.Length) return words;
            int from = at;
            at = line[at] == '"' ? EndOfQuoted(line, at) : EndOfBare(line, at);
            words.Add(line[from] == '"' ? Unescape(line[(from + 1)..(at - 1)]) : line[from..at]);
        }
    }

    /// <summary>The index behind the closing quote of the quoted text that opens at the index.</summary>
    public static int EndOfQuoted(string line, int open)
    {
        for (int i = open + 1; i < line.Length; i++)
        {
            if (line[i] == '\\') i++;
            else if (line[i] == '"') return i + 1;
        }
        throw new FormatException($"a quote is not closed: {line}");
    }

    private static int EndOfBare(string line, int from)
    {
        int end = line.IndexOf(' ', from);
        return end < 0 ? line.Length : end;
    }

    private static char One(string text, ref int at)
    {
        char c = text[++at];
        if (c != 'x') return c switch { 'n' => '\n', 'r' => '\r', 't' => '\t', '0' => '\0', _ => c };
        char value = (char)int.Parse(text.AsSpan(at + 1, 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        at += 2;
        return value;
    }
}
