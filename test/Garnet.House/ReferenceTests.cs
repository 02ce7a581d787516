using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Who may reference whom, and which packages.</summary>
public sealed class ReferenceTests
{
    /// <summary>Libraries from the bottom up: a project may reference only what stands above its own line here.</summary>
    private static readonly string[] Order =
    [
        "Garnet.Rdma", "Garnet.Bulk", "Garnet.Common", "Garnet.Lua", "Garnet.Media", "Tsavorite", "Garnet.Types", "Garnet.Rdb", "Garnet.Aof", "Garnet.Replication", "Garnet.Server", "Garnet.Host", "Garnet.Admin", "GarnetServer",
    ];

    private static readonly Dictionary<string, string[]> Packages = new()
    {
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
        .Where(static file => file.All<AttributeSyntax>().Any(static a => a.Name.ToString() is "DllImport" or "LibraryImport")
            || file.All<FunctionPointerTypeSyntax>().Any(static type => type.CallingConvention?.ManagedOrUnmanagedKeyword.IsKind(SyntaxKind.UnmanagedKeyword) == true)
            || file.All<IdentifierNameSyntax>().Any(static name => name.Identifier.ValueText == "NativeLibrary"))
        .Select(static file => new Finding(file.Path, "calls native code; libs/common/Linux is the place, libs/lua for Lua, and libs/storage/Bulk for its own library")));

    private static string NameOf(string project) => Path.GetFileNameWithoutExtension(project);

    private static IEnumerable<string> Includes(string project, string item)
        => XDocument.Parse(House.Text(project)).Descendants(item).Select(static element => (string)element.Attribute("Include")!);
}
