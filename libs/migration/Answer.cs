using System.Text;

namespace Garnet.Migration;

/// <summary>A reply of RESP2: its type, its text (of strings that were asked for no longer than what is kept), and its elements.</summary>
internal sealed record Answer(char Kind, byte[] Bytes, IReadOnlyList<Answer> Items)
{
    /// <summary>True for an error.</summary>
    internal bool IsError => Kind == '-';

    /// <summary>True for an error that passes by itself: a script that runs for long, data that are loaded, a replica without its primary.</summary>
    internal bool IsPassing => IsError && Passes(Text);

    /// <summary>True for +OK.</summary>
    internal bool IsOk => Kind == '+' && Text == "OK";

    /// <summary>True for a string, or none, that is nil.</summary>
    internal bool IsNil { get; init; }

    /// <summary>For people and numbers.</summary>
    internal string Text => Encoding.UTF8.GetString(Bytes);

    /// <summary>The same without what a terminal obeys.</summary>
    internal string Printable => Shown(Bytes);

    /// <summary>True for the text of such an error, also of one that has kept a transaction from being done.</summary>
    internal static bool Passes(string text)
    {
        const string Aborted = "EXECABORT ";
        foreach (string word in (string[])["BUSY ", "LOADING ", "TRYAGAIN ", "MASTERDOWN "])
        {
            if (text.StartsWith(word, StringComparison.Ordinal)
                || (text.StartsWith(Aborted, StringComparison.Ordinal) && text.Contains(": " + word, StringComparison.Ordinal)))
                return true;
        }
        return false;
    }

    /// <summary>The head of a name of somebody else's, for people.</summary>
    internal static string Shown(ReadOnlySpan<byte> name)
    {
        const int ShownMax = 120;
        return string.Concat(Encoding.Latin1.GetString(name[..Math.Min(name.Length, ShownMax)])
            .Select(static c => c is < ' ' or > '~' ? '?' : c));
    }
}
