using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Garnet.House;

/// <summary>The repository as the house tests see it: every source file parsed once, paths relative to the root.</summary>
internal static class House
{
    private static readonly string[] Rooms = ["libs", "main", "benchmark", "test", "playground"];
    private static readonly string ImplicitUsings = string.Concat(((string[])["System", "System.Collections.Generic", "System.IO", "System.Linq", "System.Net.Http", "System.Threading", "System.Threading.Tasks"])
        .Select(static space => $"global using {space};"));
    private static readonly Lazy<IReadOnlyList<SourceFile>> Parsed = new(ParseAll);
    private static readonly Lazy<CSharpCompilation> Compiled = new(Compile);
    private static readonly Lazy<CSharpCompilation> CompiledTests = new(static () => Compiled.Value.AddSyntaxTrees(Sources
        .Where(static file => file.IsIn("test") || file.IsIn("main")).Select(static file => file.Unit.SyntaxTree).Append(CSharpSyntaxTree.ParseText("global using NUnit.Framework;"))));

    public static string Root { get; } = FindRoot();

    public static IReadOnlyList<SourceFile> Sources => Parsed.Value;

    /// <summary>Sources of the product, tests and tools left out.</summary>
    public static IEnumerable<SourceFile> Product => Sources.Where(static file => file.IsIn("libs") || file.IsIn("main"));

    /// <summary>All libraries as the compiler understands them, in one piece: what a name in a file of <see cref="Sources"/> stands for.</summary>
    public static CSharpCompilation Libraries => Compiled.Value;

    /// <summary>The libraries with main and all tests. Packages that this test does not have are missing: what they declare stands for nothing.</summary>
    public static CSharpCompilation LibrariesAndTests => CompiledTests.Value;

    /// <summary>What the names in a file of the libraries, of main or of the tests stand for.</summary>
    public static SemanticModel ModelOf(SourceFile file) => LibrariesAndTests.GetSemanticModel(file.Unit.SyntaxTree);

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

    private static CSharpCompilation Compile() => CSharpCompilation.Create("Libraries",
        Sources.Where(static file => file.IsIn("libs")).Select(static file => file.Unit.SyntaxTree).Append(CSharpSyntaxTree.ParseText(ImplicitUsings)), References(),
        new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true));

    // What this test was built with, and stands on itself; the libraries are compiled.
    private static IEnumerable<MetadataReference> References() => ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
        .Concat(Directory.EnumerateFiles(AppContext.BaseDirectory, "*.dll")).DistinctBy(static path => Path.GetFileName(path))
        .Where(static path => !Files("libs", ".csproj").Any(project => Path.GetFileNameWithoutExtension(project) == Path.GetFileNameWithoutExtension(path)))
        .Select(static path => MetadataReference.CreateFromFile(path));

    private static string FindRoot()
    {
        string? folder = TestContext.CurrentContext.TestDirectory;
        while (folder is not null && !File.Exists(Path.Combine(folder, "Garnet.sln"))) folder = Path.GetDirectoryName(folder);
        return folder ?? throw new InvalidOperationException("Garnet.sln is not above the test's folder");
    }
}
