namespace Garnet.Wire.Differential;

/// <summary>
/// The differences kept on purpose, from differences.txt: <c>command pattern | reply of the reference | reply of ours | reason</c>,
/// where <c>*</c> stands for anything.
/// </summary>
internal sealed class KnownDifferences
{
    private readonly List<string[]> _rows;

    private KnownDifferences(List<string[]> rows) => _rows = rows;

    public static KnownDifferences Load()
    {
        string file = Path.Combine(AppContext.BaseDirectory, "Differential/differences.txt");
        List<string[]> rows = [];
        foreach (string line in File.ReadAllLines(file))
        {
            if (line.Length == 0 || line[0] == '#') continue;
            string[] fields = [.. line.Split('|').Select(f => f.Trim())];
            if (fields.Length != 4 || fields[3].Length == 0) throw new FormatException($"differences.txt: {line}");
            rows.Add(fields);
        }
        return new KnownDifferences(rows);
    }

    public bool Covers(string command, string reference, string ours) =>
        _rows.Exists(r => Like(r[0], command) && Like(r[1], reference) && Like(r[2], ours));

    private static bool Like(string pattern, string text)
    {
        string[] parts = pattern.Split('*');
        if (parts.Length == 1) return text == pattern;
        if (!text.StartsWith(parts[0], StringComparison.Ordinal) || !text.EndsWith(parts[^1], StringComparison.Ordinal)) return false;
        int at = parts[0].Length;
        foreach (string part in parts[1..^1])
        {
            int found = text.IndexOf(part, at, StringComparison.Ordinal);
            if (found < 0) return false;
            at = found + part.Length;
        }
        return at <= text.Length - parts[^1].Length;
    }
}
