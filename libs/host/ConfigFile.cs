using Garnet.Common;

namespace Garnet.Host;

/// <summary>
/// Reads files in the syntax of redis.conf: one directive per line, <c>#</c> comments, quotes, <c>include</c>. A relative
/// include is looked for beside the file that names it, then in the current directory.
/// host.C1: files include each other at most 16 deep. host.C2: a file that cannot be read stops the start; an included
/// one does so with all other problems, since it is a mistake in a line like those.
/// </summary>
internal static class ConfigFile
{
    private const int DepthMax = 16;

    /// <summary>All directives in order, includes in place. Lines that cannot be split go to <paramref name="problems"/>.</summary>
    public static List<ConfigLine> Read(string path, List<string> problems)
    {
        var lines = new List<ConfigLine>();
        if (TryRead(path, 1, lines, problems) is not { } failure)
            return lines;
        ExitKind kind = failure is UnauthorizedAccessException ? ExitKind.Permission : ExitKind.Configuration;
        string orVerb = failure is FileNotFoundException && path.All(char.IsAsciiLetter)
            ? $"; or one of the verbs {CommandLine.Verbs} is meant" : "";
        throw new GarnetException(kind, $"cannot read the configuration file '{path}'", failure.Message,
            "Check the path and who may read it" + orVerb);
    }

    /// <summary>The directives of a text already at hand, such as standard input; includes are followed.</summary>
    public static List<ConfigLine> Parse(string name, IEnumerable<string> text, List<string> problems)
    {
        var lines = new List<ConfigLine>();
        Parse((name, 1), text, lines, problems);
        return lines;
    }

    /// <summary>Null, or why the file cannot be read.</summary>
    private static Exception? TryRead(string path, int depth, List<ConfigLine> lines, List<string> problems)
    {
        try
        {
            Parse((path, depth), File.ReadLines(path), lines, problems);
            return null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return e;
        }
    }

    private static void Parse((string Path, int Depth) file, IEnumerable<string> text, List<ConfigLine> lines, List<string> problems)
    {
        int number = 0;
        foreach (string raw in text)
        {
            number++;
            string line = raw.Trim();
            if (line.Length == 0 || line[0] == '#')
                continue;
            var words = new List<string>();
            if (!ConfigWords.TrySplit(line, words))
                problems.Add($"{file.Path}:{number}: Unbalanced quotes in configuration line");
            else if (words[0].Equals("include", StringComparison.OrdinalIgnoreCase))
                Include(file, number, words, lines, problems);
            else lines.Add(new ConfigLine(file.Path, number, [.. words]));
        }
    }

    private static void Include(
        (string Path, int Depth) file, int number, List<string> words, List<ConfigLine> lines, List<string> problems)
    {
        if (words.Count != 2)
            problems.Add($"{file.Path}:{number}: include: {SettingText.WrongCount}");
        else if (file.Depth >= DepthMax)
            problems.Add($"{file.Path}:{number}: include: files include each other more than {DepthMax} deep");
        else if (TryRead(Resolve(file.Path, words[1]), file.Depth + 1, lines, problems) is { } failure)
            problems.Add($"{file.Path}:{number}: include '{words[1]}': {failure.Message.TrimEnd('.')}");
    }

    private static string Resolve(string from, string path)
    {
        string beside = Path.Combine(Path.GetDirectoryName(Path.GetFullPath(from)) ?? "", path);
        return File.Exists(beside) ? beside : path;
    }
}
