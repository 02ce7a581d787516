using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>The sizes of CONTRIBUTING.md.</summary>
public sealed class SizeTests
{
    private const int FileLinesMax = 600, MethodLinesMax = 70, TypeLinesMax = 600, ParametersMax = 6, NestingMax = 4, TypeParametersMax = 2, FolderFilesMax = 40;

    private static readonly Lazy<string[]> Projects = new(static () => [.. House.Files("", ".csproj").Select(static project => Path.GetDirectoryName(project)!)]);

    [Test]
    public void Files_are_short()
        => AllowList.Judge("file-lines", House.Sources.Where(static file => file.Lines > FileLinesMax)
            .Select(static file => new Finding(file.Path, $"{file.Lines} lines, at most {FileLinesMax}", file.Lines)));

    [Test]
    public void Methods_are_short() => AllowList.Judge("method-lines", Methods().Where(static m => LinesOf(m.Body) > MethodLinesMax)
        .Select(static m => new Finding(m.Name, $"{LinesOf(m.Body)} lines, at most {MethodLinesMax}", LinesOf(m.Body))));

    [Test]
    public void Methods_take_few_parameters() => AllowList.Judge("parameters", Parameters()
        .Where(static p => p.Count > ParametersMax)
        .Select(static p => new Finding(p.Name, $"{p.Count} parameters, at most {ParametersMax}", p.Count)));

    [Test]
    public void Code_is_flat() => AllowList.Judge("nesting", Methods().Select(static m => (m.Name, Depth: DepthOf(m.Body)))
        .Where(static m => m.Depth > NestingMax)
        .Select(static m => new Finding(m.Name, $"nested {m.Depth} deep, at most {NestingMax}", m.Depth)));

    [Test]
    public void Type_parameters_are_few() => AllowList.Judge("type-parameters", House.Sources
        .SelectMany(static file => file.All<TypeParameterListSyntax>().Select(list => (file, list)))
        .Where(static found => found.list.Parameters.Count > TypeParametersMax)
        .Select(static found => new Finding($"{found.file.Path}:{found.list.Parent}", "too many type parameters", found.list.Parameters.Count)));

    [Test]
    public void Types_are_short_with_all_their_parts() => AllowList.Judge("type-lines", House.Sources
        .SelectMany(static file => file.All<TypeDeclarationSyntax>().Where(static type => type.Parent is not TypeDeclarationSyntax).Select(type => (Whole: WholeOf(file.Path, type), type)))
        .GroupBy(static found => found.Whole, static found => LinesOf(found.type))
        .Where(static parts => parts.Sum() > TypeLinesMax)
        .Select(static parts => new Finding(parts.Key, $"{parts.Sum()} lines, at most {TypeLinesMax}", parts.Sum())));

    [Test]
    public void Parts_of_a_type_are_one_wherever_they_lie()
    {
        Assert.That(Whole("libs/server/Net/A.cs", "namespace N; class A;"), Is.EqualTo(Whole("libs/server/Net/Replies/Parts.cs", "namespace N { partial class A { } }")));
        Assert.That(Whole("libs/server/Net/A.cs", "namespace N; class A;"), Is.Not.EqualTo(Whole("libs/server/Net/A.cs", "namespace O; class A;")));
        Assert.That(Whole("libs/server/A.cs", "namespace N; class A;"), Is.Not.EqualTo(Whole("libs/lua/A.cs", "namespace N; class A;")));
        Assert.That(Whole("libs/server/A.cs", "namespace N; class A;"), Is.Not.EqualTo(Whole("libs/server/A.cs", "namespace N; class A<T>;")));

        static string Whole(string path, string text) => WholeOf(path, CSharpSyntaxTree.ParseText(text).GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>().First());
    }

    // The same project, namespace and name: parts of one type, though they lie in several folders.
    private static string WholeOf(string path, TypeDeclarationSyntax type)
    {
        string project = Projects.Value.Where(folder => path.StartsWith(folder + "/", StringComparison.Ordinal)).MaxBy(static folder => folder.Length) ?? "";
        string space = string.Join('.', type.Ancestors().OfType<BaseNamespaceDeclarationSyntax>().Reverse().Select(static outer => outer.Name.ToString()));
        string arity = type.TypeParameterList is { Parameters.Count: var count } ? $"`{count}" : "";
        return $"{project}:{space}.{type.Identifier.Text}{arity}";
    }

    [Test]
    public void Folders_of_the_product_can_be_held_in_the_head() => AllowList.Judge("folder-files", House.Product
        .GroupBy(static file => Path.GetDirectoryName(file.Path)!)
        .Where(static folder => folder.Count() > FolderFilesMax)
        .Select(static folder => new Finding(folder.Key, $"{folder.Count()} files, at most {FolderFilesMax}", folder.Count())));

    private static IEnumerable<(string Name, SyntaxNode Body)> Methods()
    {
        foreach (SourceFile file in House.Sources)
        {
            foreach (BaseMethodDeclarationSyntax method in file.All<BaseMethodDeclarationSyntax>()) yield return (NameOf(file, method), method);
            foreach (AccessorDeclarationSyntax accessor in file.All<AccessorDeclarationSyntax>()) yield return (NameOf(file, accessor), accessor);
        }
    }

    private static IEnumerable<(string Name, int Count)> Parameters()
    {
        foreach (SourceFile file in House.Sources)
        {
            foreach (BaseMethodDeclarationSyntax method in file.All<BaseMethodDeclarationSyntax>())
                if (!IsForeign(method)) yield return (NameOf(file, method), method.ParameterList.Parameters.Count);
            foreach (LocalFunctionStatementSyntax local in file.All<LocalFunctionStatementSyntax>())
                yield return ($"{file.Path}:{local.Identifier.Text}", local.ParameterList.Parameters.Count);
            foreach (ClassDeclarationSyntax type in file.All<ClassDeclarationSyntax>())
                yield return ($"{file.Path}:{type.Identifier.Text}", type.ParameterList?.Parameters.Count ?? 0);
        }
    }

    /// <summary>The signature of a function of the C library is not ours to shorten.</summary>
    private static bool IsForeign(BaseMethodDeclarationSyntax method)
        => method.AttributeLists.SelectMany(static list => list.Attributes).Any(static a => a.Name.ToString() is "LibraryImport" or "DllImport");

    private static int LinesOf(SyntaxNode node)
    {
        FileLinePositionSpan span = node.GetLocation().GetLineSpan();
        return span.EndLinePosition.Line - span.StartLinePosition.Line + 1;
    }

    private static int DepthOf(SyntaxNode node)
    {
        int deepest = 0;
        foreach (SyntaxNode child in node.ChildNodes()) deepest = Math.Max(deepest, DepthOf(child));
        bool elseIf = node is IfStatementSyntax { Parent: ElseClauseSyntax };
        bool nests = node is IfStatementSyntax or ForStatementSyntax or CommonForEachStatementSyntax or WhileStatementSyntax
            or DoStatementSyntax or SwitchStatementSyntax or TryStatementSyntax;
        return nests && !elseIf ? deepest + 1 : deepest;
    }

    private static string NameOf(SourceFile file, SyntaxNode member)
    {
        string type = member.FirstAncestorOrSelf<BaseTypeDeclarationSyntax>()?.Identifier.Text ?? "";
        string name = member switch
        {
            MethodDeclarationSyntax method => method.Identifier.Text,
            AccessorDeclarationSyntax accessor => accessor.FirstAncestorOrSelf<PropertyDeclarationSyntax>()?.Identifier.Text ?? "this[]",
            ConstructorDeclarationSyntax => "constructor",
            _ => "operator",
        };
        return $"{file.Path}:{type}.{name}";
    }
}
