using System.Text.RegularExpressions;
using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Who may reference whom, and which packages.</summary>
public sealed partial class ReferenceTests
{
    /// <summary>Libraries from the bottom up: a project may reference only what stands above its own line here.</summary>
    private static readonly string[] Order =
    [
        "Garnet.Generators", "Garnet.Rdma", "Garnet.Bulk", "Garnet.Common", "Garnet.Lua", "Garnet.Media", "Tsavorite", "Garnet.Types", "Garnet.Rdb", "Garnet.Aof", "Garnet.Replication", "Garnet.Server", "Garnet.Migration", "Garnet.Host", "Garnet.Admin", "GarnetServer",
    ];

    private static readonly Dictionary<string, string[]> Packages = new()
    {
        ["Garnet.Generators"] = ["Microsoft.CodeAnalysis.CSharp"],
        ["Garnet.Aof"] = ["Microsoft.Extensions.Logging.Abstractions"],
        ["Garnet.Lua"] = ["KeraLua"],
        ["Garnet.Types"] = ["System.IO.Hashing"],
        ["Garnet.Server"] = ["Microsoft.Extensions.Logging.Abstractions"],
        ["Garnet.Admin"] = ["Microsoft.Extensions.Logging.Abstractions"],
        ["Garnet.Host"] = ["Microsoft.Extensions.Logging.Abstractions", "Microsoft.Extensions.Hosting.Abstractions"],
        ["GarnetServer"] = [],
    };

    private static IEnumerable<string> Projects => House.Files("libs", ".csproj").Concat(House.Files("main", ".csproj"));

    [Test]
    public void The_lists_name_projects_that_exist() => AllowList.Judge("projects", Order.Concat(Packages.Keys).Distinct()
        .Where(static name => !Projects.Select(NameOf).Contains(name))
        .Select(static name => new Finding(name, "is no project")));

    [Test]
    public void References_point_down() => AllowList.Judge("references", Projects.SelectMany(static project =>
        Includes(project, "ProjectReference").Select(target => (From: NameOf(project), To: NameOf(target.Replace('\\', '/')))))
        .Where(static pair => Array.IndexOf(Order, pair.To) < 0 || Array.IndexOf(Order, pair.To) >= Array.IndexOf(Order, pair.From))
        .Select(static pair => new Finding($"{pair.From} to {pair.To}", "points up or to a project the order does not know")));

    [Test]
    public void Packages_stand_only_where_they_are_allowed() => AllowList.Judge("packages", Projects.SelectMany(static project =>
        Includes(project, "PackageReference").Select(package => (Name: NameOf(project), package)))
        .Where(static found => !Packages.GetValueOrDefault(found.Name, []).Contains(found.package))
        .Select(static found => new Finding($"{found.Name} to {found.package}", "is not on the list of this project")));

    [Test]
    public void A_library_shows_its_inside_to_one_test_only() => AllowList.Judge("internals", House.Files("libs", ".csproj")
        .Select(static project => (Name: NameOf(project), Friends: Includes(project, "InternalsVisibleTo").ToArray()))
        .Where(static found => found.Friends.Any(friend => friend != found.Name + ".Test"))
        .Select(static found => new Finding(found.Name, $"shows its inside to {string.Join(", ", found.Friends)}")));

    [Test]
    public void Only_three_rooms_call_native_code() => AllowList.Judge("native-calls", House.Sources
        .Where(static file => !file.IsIn("libs/common/Linux") && !file.IsIn("libs/lua") && !file.IsIn("libs/storage/Bulk"))
        .Where(static file => CallsNative(file.Unit))
        .Select(static file => new Finding(file.Path, "calls native code; libs/common/Linux is the place, libs/lua for Lua, and libs/storage/Bulk for its own library")));

    /// <summary>A library that must not know sockets or connections, as the map's table of rooms says, knows nothing of the network.</summary>
    [Test]
    public void Libraries_without_sockets_do_not_name_the_network()
    {
        string[] without = Unconnected(House.Text("ARCHITECTURE.md"));
        Assert.That(without, Does.Contain("libs/storage/Tsavorite").And.Contain("libs/types").And.Contain("libs/replication"), "the search finds the rows");
        AllowList.Judge("network", House.Product.Where(file => without.Any(file.IsIn)).AsParallel().AsOrdered()
            .Select(static file => (file.Path, Named: OfNetwork(file.Unit, House.ModelOf(file)).FirstOrDefault()))
            .Where(static found => found.Named is not null)
            .Select(static found => new Finding(found.Path, $"names {found.Named}: ARCHITECTURE.md has it that its library knows no sockets")));
    }

    [TestCase("using System.Net.Sockets;", "", true)]
    [TestCase("using Net = System.Net;", "", true)]
    [TestCase("", "global::System.Net.IPAddress? _address;", true)]
    [TestCase("", "HttpClient? _client;", true, Description = "by a using that every project has")]
    [TestCase("using System.Numerics;", "string _net = \"System.Net\";", false)]
    public void Whoever_names_the_network_is_found(string head, string member, bool isFound)
    {
        SyntaxTree tree = CSharpSyntaxTree.ParseText($"{head} class Planted {{ {member} }}");
        Assert.That(OfNetwork(tree.GetRoot(), House.LibrariesAndTests.AddSyntaxTrees(tree).GetSemanticModel(tree)).Any(), Is.EqualTo(isFound));
    }

    // The folders of the rooms whose last cell names sockets or connections; whose connections, those of clients, is another matter.
    private static string[] Unconnected(string map)
    {
        string table = map[map.IndexOf("\n## Rooms", StringComparison.Ordinal)..map.IndexOf("\n### Inside the server", StringComparison.Ordinal)];
        return [.. table.Split('\n').Select(static line => line.Split('|')).Where(static cells => cells.Length == 5 && Connected().IsMatch(cells[3]))
            .SelectMany(static cells => Folder().Matches(cells[1])).Select(static match => match.Groups[1].Value)];
    }

    private static IEnumerable<string> OfNetwork(SyntaxNode root, SemanticModel model) => root.DescendantNodes().OfType<SimpleNameSyntax>()
        .Select(name => model.GetSymbolInfo(name) is var found ? found.Symbol ?? found.CandidateSymbols.FirstOrDefault() : null)
        .Where(static symbol => symbol is not null && IsNetwork(symbol as INamespaceSymbol ?? symbol.ContainingNamespace))
        .Select(static symbol => symbol!.ToString()!);

    private static bool IsNetwork(INamespaceSymbol? space) => space?.ToString() is { } name && (name == "System.Net" || name.StartsWith("System.Net.", StringComparison.Ordinal));

    [TestCase("[DllImport(\"c\")] static extern int getpid();", true)]
    [TestCase("[System.Runtime.InteropServices.DllImport(\"c\")] static extern int getpid();", true)]
    [TestCase("[LibraryImportAttribute(\"c\")] static partial int getpid();", true)]
    [TestCase("void Do() => System.Runtime.InteropServices.NativeLibrary.Load(\"c\");", true)]
    [TestCase("unsafe delegate* unmanaged<int> _getpid;", true)]
    [TestCase("static extern int Other();", true)]
    [TestCase("[Obsolete] void Do() { }", false)]
    public void Whoever_calls_native_code_is_found(string member, bool isFound) =>
        Assert.That(CallsNative(CSharpSyntaxTree.ParseText($"class Planted {{ {member} }}").GetCompilationUnitRoot()), Is.EqualTo(isFound));

    private static bool CallsNative(CompilationUnitSyntax unit) => unit.DescendantNodes().Any(static node => node switch
    {
        AttributeSyntax attribute => attribute.Name.DescendantNodesAndSelf().OfType<SimpleNameSyntax>().Last().Identifier.ValueText is var name && (name.StartsWith("DllImport", StringComparison.Ordinal) || name.StartsWith("LibraryImport", StringComparison.Ordinal)),
        FunctionPointerTypeSyntax type => type.CallingConvention?.ManagedOrUnmanagedKeyword.IsKind(SyntaxKind.UnmanagedKeyword) == true,
        IdentifierNameSyntax name => name.Identifier.ValueText == "NativeLibrary",
        MethodDeclarationSyntax method => method.Modifiers.Any(SyntaxKind.ExternKeyword),
        _ => false,
    });

    [GeneratedRegex(@"\bsockets\b|\bconnections\b(?! of clients)")]
    private static partial Regex Connected();

    [GeneratedRegex(@"\]\((libs/[\w/]+)\)")]
    private static partial Regex Folder();

    private static string NameOf(string project) => Path.GetFileNameWithoutExtension(project);

    private static IEnumerable<string> Includes(string project, string item)
        => XDocument.Parse(House.Text(project)).Descendants(item).Select(static element => (string)element.Attribute("Include")!);
}
