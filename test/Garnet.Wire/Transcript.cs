namespace Garnet.Wire;

/// <summary>A file of requests and the replies they must get; transcripts/README.md describes the notation.</summary>
internal sealed record Transcript(string Name, IReadOnlyList<TranscriptStep> Steps)
{
    public static string Folder { get; } = Path.Combine(AppContext.BaseDirectory, "transcripts");

    public static IEnumerable<string> Names() =>
        Directory.EnumerateFiles(Folder, "*.txt", SearchOption.AllDirectories).Select(f => Path.GetRelativePath(Folder, f)).Order(StringComparer.Ordinal);

    public static Transcript Load(string name) => Parse(name, File.ReadAllLines(Path.Combine(Folder, name)));

    public static Transcript Parse(string name, string[] lines)
    {
        List<TranscriptStep> steps = [];
        for (int i = 0; i < lines.Length; i++)
        {
            string line = lines[i].TrimEnd();
            int number = i + 1;
            if (line.Length == 0 || line[0] == '#') continue;
            while (i + 1 < lines.Length && lines[i + 1].StartsWith(' ')) line += " " + lines[++i].Trim();
            steps.Add(TranscriptStep.Parse(line, number));
        }
        return new Transcript(name, steps);
    }
}
