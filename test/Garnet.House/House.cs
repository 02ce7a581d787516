using Microsoft.CodeAnalysis.CSharp;

namespace Garnet.House;

/// <summary>The repository as the house tests see it: every source file parsed once, paths relative to the root.</summary>
internal static class House
{
    private static readonly string[] Rooms = ["libs", "main", "benchmark", "test", "playground"];
    private static readonly Lazy<IReadOnlyList<SourceFile>> Parsed = new(ParseAll);

    public static string Root { get; } = FindRoot();

    public static IReadOnlyList<SourceFile> Sources => Parsed.Value;

    /// <summary>Sources of the product, tests and tools left out.</summary>
    public static IEnumerable<SourceFile> Product => Sources.Where(static file => file.IsIn("libs") || file.IsIn("main"));

    public static string Text(string path) => File.ReadAllText(Path.Combine(Root, path));

    public static bool Has(string path) => File.Exists(Path.Combine(Root, path));

    /// <summary>Files of the repository that end with <paramref name="ending"/>, build output left out.</summary>
    public static IEnumerable<string> Files(string room, string ending)
    {
        string folder = Path.Combine(Root, room);
        if (!Directory.Exists(folder)) yield break;
        foreach (string file in Directory.EnumerateFiles(folder, "*" + ending, SearchOption.AllDirectories))
        {
            string path = Path.GetRelativePath(Root, file).Replace('\\', '/');
            if (!path.Contains("/obj/") && !path.Contains("/bin/") && !path.Contains("node_modules/")) yield return path;
        }
    }

    private static SourceFile[] ParseAll()
        => [.. Rooms.SelectMany(static room => Files(room, ".cs")).AsParallel().Select(static path =>
        {
            string text = Text(path);
            return new SourceFile(path, text, CSharpSyntaxTree.ParseText(text).GetCompilationUnitRoot());
        })];

    private static string FindRoot()
    {
        string? folder = TestContext.CurrentContext.TestDirectory;
        while (folder is not null && !File.Exists(Path.Combine(folder, "Garnet.sln"))) folder = Path.GetDirectoryName(folder);
        return folder ?? throw new InvalidOperationException("Garnet.sln is not above the test's folder");
    }
}
