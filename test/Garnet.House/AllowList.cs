using System.Globalization;

namespace Garnet.House;

/// <summary>
/// Exceptions from the rules, one per line: <c>rule | subject | size or - | reason</c>.
/// An exception nobody needs any more is an error, and so is a size that shrank and was not written down smaller.
/// </summary>
internal static class AllowList
{
    private const string File = "test/Garnet.House/allow.txt";

    /// <summary>Fails the test if there are findings without an exception or exceptions without a finding.</summary>
    public static void Judge(string rule, IEnumerable<Finding> findings)
    {
        Dictionary<string, int> allowed = Read(rule);
        var complaints = new List<string>();
        foreach (Finding finding in findings)
        {
            bool excused = allowed.Remove(finding.Subject, out int size);
            if (!excused || finding.Size > size) complaints.Add($"{finding.Subject}: {(excused ? $"{finding.Size}, noted {size} in allow.txt, " : "")}{finding.Text}");
            else if (finding.Size < size) complaints.Add($"{finding.Subject} shrank: write {finding.Size} instead of {size} in {File}");
        }
        complaints.AddRange(allowed.Keys.Select(subject => $"{subject} needs no exception any more: take '{rule} | {subject}' out of {File}"));
        complaints.Sort(StringComparer.Ordinal);
        if (complaints.Count > 0) Assert.Fail($"Rule '{rule}':\n  {string.Join("\n  ", complaints)}");
    }

    private static Dictionary<string, int> Read(string rule)
    {
        var allowed = new Dictionary<string, int>(StringComparer.Ordinal);
        foreach (string line in House.Text(File).Split('\n'))
        {
            if (line.Length == 0 || line[0] == '#') continue;
            string[] cells = line.Split('|', StringSplitOptions.TrimEntries);
            Assert.That(cells, Has.Length.EqualTo(4), () => $"{File}: '{line}' is not 'rule | subject | size or - | reason'");
            Assert.That(cells[3], Is.Not.Empty, () => $"{File}: '{line}' gives no reason");
            if (cells[0] == rule) allowed[cells[1]] = cells[2] == "-" ? 0 : int.Parse(cells[2], CultureInfo.InvariantCulture);
        }
        return allowed;
    }
}
