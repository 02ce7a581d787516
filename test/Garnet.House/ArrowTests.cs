using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// The rooms of the server point one way. ARCHITECTURE.md lists them from the bottom up; what the code really uses, symbol by symbol and not by
/// its using lines, is compared with that list: a file uses its own room and those above its line. Every other arrow is a finding, its size
/// the number of files that have it.
/// </summary>
public sealed partial class ArrowTests
{
    private const string Server = "libs/server", RootRoom = "root", Map = "ARCHITECTURE.md", Heading = "### Inside the server";

    private static readonly Lazy<(string File, string From, string To, string Symbol)[]> Found = new(FindArrows); // seconds of work

    [Test]
    public void The_map_lists_every_room_of_the_server_once() =>
        Assert.That(Listed(), Is.EquivalentTo(Files().Select(static file => RoomOf(file.Path)).Distinct()), $"{Map}, '{Heading}', and the folders of {Server}");

    [Test]
    public void Rooms_of_the_server_use_only_rooms_below_them()
    {
        string[] rooms = Listed();
        AllowList.Judge("arrows", Arrows()
            .Where(arrow => Array.IndexOf(rooms, arrow.To) > Array.IndexOf(rooms, arrow.From))
            .GroupBy(static arrow => $"{arrow.From} to {arrow.To}")
            .Select(static found => new Finding(found.Key, Words(found.Select(static arrow => $"{Path.GetFileName(arrow.File)} uses {arrow.Symbol}")), found.DistinctBy(static arrow => arrow.File).Count())));
    }

    /// <summary>Whoever serves connections knows commands by their table only: a new family, or one that goes, touches none of it.</summary>
    [Test]
    public void Net_knows_no_family_of_commands() => AllowList.Judge("net-families", Arrows()
        .Where(static arrow => arrow is { From: "Net", To: "Families" })
        .Select(static arrow => new Finding(arrow.File, $"uses {arrow.Symbol}")));

    private static string Words(IEnumerable<string> all) => $"{string.Join(", ", all.Take(8))}: the map has the room that is used above the one that uses it";

    private static IEnumerable<SourceFile> Files() => House.Sources.Where(static file => file.IsIn(Server));

    private static string RoomOf(string path) => path[(Server.Length + 1)..] is var inside && inside.IndexOf('/') is > 0 and var end ? inside[..end] : RootRoom;

    /// <summary>The rooms as the first column of the map's table links them, from the bottom up.</summary>
    private static string[] Listed()
    {
        string text = House.Text(Map);
        string table = text[text.IndexOf(Heading, StringComparison.Ordinal)..];
        int end = table.IndexOf("\n### ", StringComparison.Ordinal);
        return [.. table[..end].Split('\n').Where(static line => line.StartsWith("| ", StringComparison.Ordinal))
            .SelectMany(static line => Link().Matches(line.Split('|')[1])).Select(static match => match.Groups[1].Success ? match.Groups[1].Value : RootRoom)];
    }

    private static (string File, string From, string To, string Symbol)[] Arrows() => Found.Value;

    // One for each file and room that it uses, with something of it.
    private static (string File, string From, string To, string Symbol)[] FindArrows()
    {
        var paths = Files().ToDictionary(static file => file.Unit.SyntaxTree, static file => file.Path);
        // What no file of the server declares need not be looked up: most of the time is saved so.
        var declared = paths.Keys.SelectMany(static tree => tree.GetRoot().DescendantNodes()).Select(NameDeclared).OfType<string>().ToHashSet();
        return paths.AsParallel().SelectMany(file => Used(House.Libraries.GetSemanticModel(file.Key), declared)
            .Where(used => paths.TryGetValue(used.Tree, out string? path) && RoomOf(path) != RoomOf(file.Value))
            .Select(used => (File: file.Value, From: RoomOf(file.Value), To: RoomOf(paths[used.Tree]), used.Symbol))
            .DistinctBy(static arrow => arrow.To)).ToArray();
    }

    private static string? NameDeclared(SyntaxNode node) => node switch
    {
        BaseTypeDeclarationSyntax type => type.Identifier.Text,
        DelegateDeclarationSyntax type => type.Identifier.Text,
        MethodDeclarationSyntax method => method.Identifier.Text,
        PropertyDeclarationSyntax property => property.Identifier.Text,
        EventDeclarationSyntax raised => raised.Identifier.Text,
        EnumMemberDeclarationSyntax value => value.Identifier.Text,
        VariableDeclaratorSyntax { Parent.Parent: BaseFieldDeclarationSyntax } field => field.Identifier.Text,
        ParameterSyntax { Parent.Parent: RecordDeclarationSyntax } property => property.Identifier.Text,
        _ => null,
    };

    private static IEnumerable<(SyntaxTree Tree, string Symbol)> Used(SemanticModel model, HashSet<string> declared)
    {
        foreach (SyntaxNode node in model.SyntaxTree.GetRoot().DescendantNodes(static node => node is not UsingDirectiveSyntax))
        {
            if (node is not (SimpleNameSyntax or ImplicitObjectCreationExpressionSyntax)) continue;
            if (node is SimpleNameSyntax name && !declared.Contains(name.Identifier.Text)) continue;
            ISymbol? symbol = model.GetSymbolInfo(node).Symbol?.OriginalDefinition;
            if (symbol is null or INamespaceSymbol) continue;
            // A member lies where it is declared: a type may have parts in several rooms.
            ISymbol? placed = symbol is INamedTypeSymbol || symbol.ContainingType is null ? symbol as INamedTypeSymbol : symbol;
            if (placed?.Locations.FirstOrDefault(static place => place.IsInSource)?.SourceTree is { } tree) yield return (tree, $"{symbol.ContainingType?.Name}.{symbol.Name}".TrimStart('.'));
        }
    }

    /// <summary>A link to a room of the server, or to the server itself.</summary>
    [GeneratedRegex(@"\]\(libs/server(?:/(\w+))?\)")]
    private static partial Regex Link();
}
