using System.Globalization;
using System.Text.RegularExpressions;

namespace Garnet.Admin.Test;

/// <summary>Reads metrics as strictly as the format says, or says what is wrong: a judge of its own, which shares nothing with who writes them.</summary>
internal sealed partial class OpenMetrics
{
    private readonly Dictionary<string, string> _types = [];
    private readonly HashSet<string> _ended = [];
    private string _family = "";

    private OpenMetrics(string text)
    {
        if (!text.EndsWith("# EOF\n", StringComparison.Ordinal))
            throw new FormatException("it does not end with # EOF");
        foreach (string line in text[..^"# EOF\n".Length].Split('\n')[..^1])
            Take(line);
    }

    /// <summary>The number of each sample, by its name and labels as they are written.</summary>
    internal Dictionary<string, double> Samples { get; } = [];

    /// <summary>The families that are declared.</summary>
    internal IReadOnlyCollection<string> Families => _types.Keys;

    internal static OpenMetrics Read(string text) => new(text);

    private void Take(string line)
    {
        if (line.StartsWith('#'))
            TakeDeclaration(line);
        else
            TakeSample(line);
    }

    private void TakeDeclaration(string line)
    {
        string[] words = line.Split(' ', 4);
        if (words.Length != 4 || words[0] != "#" || !Name().IsMatch(words[2]))
            throw new FormatException($"no declaration: {line}");
        if (words[2] != _family)
        {
            _ended.Add(_family);
            _family = words[2];
            if (_ended.Contains(_family))
                throw new FormatException($"comes twice: {line}");
        }

        bool isFine = words[1] switch
        {
            "HELP" => words[3].Length > 0 && words[3][^1] == '.',
            "TYPE" => words[3] is "gauge" or "counter" or "histogram" && _types.TryAdd(_family, words[3]),
            "UNIT" => _family.EndsWith("_" + words[3], StringComparison.Ordinal),
            _ => false,
        };
        if (!isFine)
            throw new FormatException($"wrong: {line}");
    }

    private void TakeSample(string line)
    {
        Match match = Sample().Match(line);
        if (!match.Success)
            throw new FormatException($"no sample: {line}");
        string name = match.Groups[1].Value, labels = match.Groups[2].Value;
        string[] endings = _types[_family] switch { "counter" => ["_total"], "histogram" => ["_bucket", "_count", "_sum"], _ => [""] };
        if (!endings.Any(ending => name == _family + ending))
            throw new FormatException($"not of the family {_family}: {line}");
        double value = double.Parse(match.Groups[3].Value, CultureInfo.InvariantCulture);
        if (value < 0 && _types[_family] != "gauge")
            throw new FormatException($"below zero: {line}");
        if (!Samples.TryAdd(name + labels, value))
            throw new FormatException($"twice: {line}");
    }

    [GeneratedRegex("^[a-z][a-z0-9_]*$")]
    private static partial Regex Name();

    [GeneratedRegex("""^([a-z][a-z0-9_]*)(\{[a-z][a-z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z][a-z0-9_]*="(?:[^"\\\n]|\\["\\n])*")*\})? (-?[0-9.]+(?:E[+-]?[0-9]+)?)$""")]
    private static partial Regex Sample();
}
