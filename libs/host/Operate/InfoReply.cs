using System.Globalization;

namespace Garnet.Host.Operate;

/// <summary>What a server answered to INFO, by name. A server that has no such field has an empty text and the number 0.</summary>
internal sealed class InfoReply
{
    private readonly Dictionary<string, string> _fields = new(StringComparer.Ordinal);
    private readonly List<string> _names = [];

    /// <summary>Parses the reply. Characters that a terminal obeys, and which a client or a peer may have put into a name, become question marks.</summary>
    public InfoReply(string reply)
    {
        foreach (string line in reply.Split("\r\n").Select(Printable))
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon > 0 && line[0] != '#' && _fields.TryAdd(line[..colon], line[(colon + 1)..]))
                _names.Add(line[..colon]);
        }
    }

    /// <summary>A text of somebody else's for a terminal.</summary>
    public static string Printable(string text) =>
        text.Any(IsObeyed) ? string.Concat(text.Select(static c => IsObeyed(c) ? '?' : c)) : text;

    // Escapes, and what turns the direction of writing or begins a new line.
    private static bool IsObeyed(char c) => char.GetUnicodeCategory(c)
        is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator;

    /// <summary>In the server's order.</summary>
    public IReadOnlyList<string> Names => _names;

    public string Text(string name) => _fields.GetValueOrDefault(name, "");

    public long Number(string name) =>
        long.TryParse(Text(name), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) ? number : 0;

    /// <summary>A part of a field of several, <c>keys=3,expires=1</c>; empty if it is not there.</summary>
    public string Part(string name, string part)
    {
        string? found = Text(name).Split(',').FirstOrDefault(one => one.StartsWith(part + "=", StringComparison.Ordinal));
        return found is null ? "" : found[(part.Length + 1)..];
    }

    /// <summary>The same as a number, 0 if it is none.</summary>
    public double PartNumber(string name, string part) =>
        double.TryParse(Part(name, part), NumberStyles.Float, CultureInfo.InvariantCulture, out double number) ? number : 0;

    /// <summary>The fields whose name is this and digits: <c>slave0</c>, <c>db15</c>.</summary>
    public IEnumerable<string> Numbered(string prefix) =>
        _names.Where(name => name.Length > prefix.Length && name.StartsWith(prefix, StringComparison.Ordinal)
            && name.AsSpan(prefix.Length).IndexOfAnyExceptInRange('0', '9') < 0);
}
