using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// The rooms of the server point one way. ARCHITECTURE.md lists them from the bottom up; what the code really uses, symbol by symbol and not by
/// its using lines, is compared with that list: a file uses its own room and those above its line. Every other arrow is a finding, its size
/// the number of files that have it. Which of the arrows down there are stands in a file, a line for each room: a new one is seen in review.
/// </summary>
public sealed partial class ArrowTests
{
    private const string Server = "libs/server", RootRoom = "root", Map = "ARCHITECTURE.md", Heading = "### Inside the server";
    private const string Golden = "test/golden/arrows.txt", Write = $"dotnet test test/Garnet.House -c Release --filter Name={nameof(Write_the_arrows)}";

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

    /// <summary>An arrow that comes, or goes, is a line of a diff; it is allowed by being written down.</summary>
    [Test]
    public void Rooms_of_the_server_use_the_rooms_that_are_written_down() => AllowList.Judge("arrows-written", Differences(House.Text(Golden), Arrows()));

    [TestCase("Net: Base, Clients", 0)]
    [TestCase("# what it is\nNet: Clients, Base\n", 0)]
    [TestCase("Net: Clients", 1, Description = "an arrow that nobody wrote down")]
    [TestCase("", 2)]
    [TestCase("Net: Base, Clients, Tls", 1, Description = "an arrow that no code has")]
    [TestCase("Net: Base, Clients\nBase: Clients", 1)]
    public void An_arrow_that_is_not_as_written_is_found(string golden, int found) =>
        Assert.That(Differences(golden, [("a.cs", "Net", "Base", "A"), ("b.cs", "Net", "Base", "B"), ("a.cs", "Net", "Clients", "C")]).Count(), Is.EqualTo(found));

    [Test, Explicit($"writes {Golden}; for arrows that are meant")]
    public void Write_the_arrows()
    {
        string[] rooms = Listed();
        ILookup<string, string> used = Arrows().ToLookup(static arrow => arrow.From, static arrow => arrow.To);
        File.WriteAllLines(Path.Combine(House.Root, Golden),
        [
            $"# Which rooms of {Server} the code of each uses, in the order of {Map}. Kept true by {nameof(ArrowTests)}, written by", $"# {Write}",
            .. rooms.Select(room => $"{room}: {string.Join(", ", rooms.Intersect(used[room]))}".TrimEnd()),
        ]);
    }

    private static IEnumerable<Finding> Differences(string golden, IEnumerable<(string File, string From, string To, string Symbol)> arrows)
    {
        HashSet<(string From, string To)> written = [.. golden.Split('\n').Where(static line => line.Length > 0 && line[0] != '#').Select(static line => line.Split(':'))
            .SelectMany(static line => line[1].Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Select(to => (line[0], to)))];
        var found = arrows.ToLookup(static arrow => (arrow.From, arrow.To), static arrow => $"{Path.GetFileName(arrow.File)} uses {arrow.Symbol}");
        return found.Where(uses => !written.Contains(uses.Key)).Select(static uses => new Finding($"{uses.Key.From} to {uses.Key.To}",
                $"{string.Join(", ", uses.Take(8))}: {Golden} has no such arrow; do without it, or if it is meant: {Write}"))
            .Concat(written.Where(arrow => !found.Contains(arrow)).Select(static arrow => new Finding($"{arrow.From} to {arrow.To}", $"no code uses it any more; take it out of {Golden}: {Write}")));
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
