using System.Globalization;
using System.Text.RegularExpressions;

namespace Garnet.Wire;

/// <summary>
/// What a transcript wants as a reply. Exact parts are compared in their readable form, which has one spelling per reply;
/// <c>?</c> takes any element, <c>?1..9</c> an integer in the range, <c>?"a*"</c> a string like the pattern, <c>?-ERR*</c> an error like it,
/// and <c>...</c> at the end of an aggregate any further elements.
/// </summary>
internal sealed class Expected
{
    private readonly string _text;
    private readonly List<string> _tokens;

    public Expected(string text)
    {
        _text = text;
        _tokens = IsLine(text) ? [text] : Tokens(text);
    }

    public override string ToString() => _text;

    public bool Matches(RespNode reply)
    {
        if (IsLine(_text)) return reply.ToString() == _text;
        if (_text.StartsWith("?-", StringComparison.Ordinal)) return reply.Kind == '-' && Like(_text[2..], reply.Text);
        int at = 0;
        return Matches(reply, ref at) && at == _tokens.Count;
    }

    // A simple string or an error as the whole reply reaches to the end of the line, without quotes.
    private static bool IsLine(string text) => text[0] is '+' or '-';

    private static List<string> Tokens(string text)
    {
        List<string> tokens = [];
        int at = 0;
        while (at < text.Length)
        {
            if (text[at] == ' ') { at++; continue; }
            int from = at;
            while (at < text.Length && text[at] != ' ') at = text[at] == '"' ? Quoted.EndOfQuoted(text, at) : at + 1;
            tokens.Add(text[from..at]);
        }
        return tokens;
    }

    private bool Matches(RespNode node, ref int at)
    {
        if (at == _tokens.Count) return false;
        string token = _tokens[at++];
        if (token.StartsWith('?')) return MatchesMask(node, token[1..]);
        if (token is not ("[" or "{" or "~[" or ">[")) return node.Items is null && Spelling(node) == token;
        if (node.Items is null || Opening(node) != token) return false;
        foreach (RespNode item in node.Items)
        {
            if (at < _tokens.Count && _tokens[at] == "...") break;
            if (!Matches(item, ref at)) return false;
        }
        if (at < _tokens.Count && _tokens[at] == "...") at++;
        return at < _tokens.Count && _tokens[at++] == (token == "{" ? "}" : "]");
    }

    private static string Opening(RespNode node) => node.Kind switch { '%' => "{", '~' => "~[", '>' => ">[", _ => "[" };

    private static string Spelling(RespNode node) => node.Kind is '+' or '-' ? node.Kind + Quoted.Quote(node.Text) : node.ToString();

    private static bool MatchesMask(RespNode node, string mask)
    {
        if (mask.Length == 0) return true;
        if (mask[0] == '"') return (node.IsBulk || node.Kind == '+') && Like(Quoted.Unescape(mask[1..^1]), node.Text);
        string[] bounds = mask.Split("..");
        return node.Kind == ':' && bounds.Length == 2
            && long.Parse(node.Text, CultureInfo.InvariantCulture) is long value
            && value >= long.Parse(bounds[0], CultureInfo.InvariantCulture) && value <= long.Parse(bounds[1], CultureInfo.InvariantCulture);
    }

    private static bool Like(string pattern, string text) =>
        Regex.IsMatch(text, "^" + Regex.Escape(pattern).Replace("\\*", ".*", StringComparison.Ordinal) + "$", RegexOptions.Singleline);
}
