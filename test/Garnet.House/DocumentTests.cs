using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Documents point at things that exist; rooms say what they are.</summary>
public sealed partial class DocumentTests
{
    private const int HeaderCharsMin = 80; // a sentence between its tags

    private static readonly Lazy<(string Rule, string Path)[]> Rules = new(static () =>
        [.. Comments.SelectMany(static said => Definition().Matches(said.Text).Select(match => (match.Groups[1].Value, said.Path))).Distinct()]);

    [Test]
    public void Links_resolve() => AllowList.Judge("links", Documents().SelectMany(static document =>
        Link().Matches(House.Text(document)).Select(match => (document, Target: match.Groups[1].Value.Split('#')[0])))
        .Where(static link => link.Target.Length > 0 && !link.Target.Contains("://", StringComparison.Ordinal) && !Exists(link.document, link.Target))
        .Select(static link => new Finding($"{link.document} to {link.Target}", "leads nowhere")));

    /// <summary>A package shows its readme where the rest of the source is not: it is the one of its own folder, and its links lead somewhere from there.</summary>
    [Test]
    public void Readmes_of_packages_have_no_links_into_the_source()
    {
        string[] projects = [.. House.Files("libs", ".csproj"), .. House.Files("main", ".csproj")];
        string[] readmes = [.. projects.Select(static project => $"{Path.GetDirectoryName(project)}/README.md").Where(static readme => Exists("", readme))];
        Assert.That(readmes, Is.Not.Empty);
        AllowList.Judge("packed-links", readmes.SelectMany(static readme => Link().Matches(House.Text(readme))
            .Where(static match => !match.Groups[1].Value.Contains("://", StringComparison.Ordinal))
            .Select(match => new Finding($"{readme} to {match.Groups[1].Value}", "is no link that works without the source"))));
        Assert.That(projects.Where(static project => House.Text(project).Contains("../README.md\" Pack", StringComparison.Ordinal)
            || House.Text(project).Contains("..\\README.md\" Pack", StringComparison.Ordinal)), Is.Empty, "packs the readme of another folder");
    }

    /// <summary>Whoever looks for where something is finds every folder in the map. The commands' folders bear the names of their families and stand there together.</summary>
    [Test]
    public void The_map_names_every_folder_with_code()
    {
        string[] linked = [.. Link().Matches(House.Text("ARCHITECTURE.md")).Select(static match => match.Groups[1].Value.TrimEnd('/'))];
        AllowList.Judge("map", House.Product.Select(static file => Path.GetDirectoryName(file.Path)!).Distinct()
            .Where(folder => !linked.Contains(folder) && !folder.StartsWith("libs/server/Families/", StringComparison.Ordinal))
            .Select(static folder => new Finding(folder, "is in no table of ARCHITECTURE.md")));
    }

    [Test]
    public void Every_room_opens_with_a_header() => AllowList.Judge("room-header", House.Product
        .GroupBy(static file => Path.GetDirectoryName(file.Path)!)
        .Where(static room => !room.Any(HasHeader))
        .Select(static room => new Finding(room.Key, "has no file whose type says in a summary what the room is for")));

    /// <summary>What the map says to begin with is there, and says what it is for: a reader gets no further than that without a header.</summary>
    [Test]
    public void The_files_that_the_map_begins_a_room_with_have_headers() => AllowList.Judge("room-begins", Beginnings()
        .Select(static begin => (begin.Folders, begin.File, Found: Array.Find(begin.Places, House.Has)))
        .Where(static begin => begin.Found is null || HeaderOf(begin.Found).Length < HeaderCharsMin)
        .Select(static begin => new Finding($"{begin.Folders[0]}: {begin.File}", begin.Found is null ? "the map begins with it, and it is not there" : "does not say what the room is for")));

    // Files in the last column of a table with such a column, and where they may lie: in a folder that the row links, in one below it, in the one that it lies in, or named from the server's.
    private static IEnumerable<(string[] Folders, string File, string[] Places)> Beginnings()
    {
        bool begins = false;
        foreach (string line in House.Text("ARCHITECTURE.md").Split('\n'))
        {
            string[] cells = line.Split('|');
            begins = cells.Length > 2 && (begins || cells[^2].Contains("Start reading at", StringComparison.Ordinal));
            string[] folders = begins ? [.. Link().Matches(cells[1]).Select(static match => match.Groups[1].Value)] : [];
            if (folders.Length == 0)
                continue;
            string[] linked = [.. Link().Matches(line).Select(static match => match.Groups[1].Value), .. folders.Select(static folder => Path.GetDirectoryName(folder)!), "libs/server"];
            foreach (Match match in FileName().Matches(cells[^2]))
                yield return (folders, match.Groups[1].Value, [.. linked.Select(folder => $"{folder}/{match.Groups[1].Value}")]);
        }
    }

    private static string HeaderOf(string path) => string.Concat(House.Product.First(file => file.Path == path).All<BaseTypeDeclarationSyntax>()
        .Select(static type => string.Concat(type.GetLeadingTrivia().Where(static trivia => trivia.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)))).Take(1));

    /// <summary>A rule has a number of its own in the whole house: the room's name, a letter, a number, as in store.U1.</summary>
    [Test]
    public void Every_rule_is_named_with_its_room_and_written_down()
    {
        var known = Defined.Select(static rule => rule.Rule).ToHashSet();
        (string Path, string Text)[] all = [.. Said, .. CommentsOf(House.Sources.Where(static file => file.IsIn("test") || file.IsIn("benchmark")))];
        AllowList.Judge("rules", all.SelectMany(said => Number().Matches(said.Text)
                .Where(static match => !match.Groups[1].Success).Select(match => new Finding($"{said.Path}:{match.Value}", "does not say of which room it is")))
            .Concat(all.SelectMany(said => Number().Matches(said.Text)
                .Where(match => match.Groups[1].Success && !known.Contains(match.Value)).Select(match => new Finding($"{said.Path}:{match.Value}", "stands in no header"))))
            .Distinct());
    }

    [Test]
    public void A_rule_stands_in_one_list() => AllowList.Judge("rule-lists", Said.SelectMany(static said => ListItem().Matches(said.Text).Select(match => (said.Path, Rule: match.Groups[1].Value)))
        .GroupBy(static item => item.Rule).Where(static items => items.Count() > 1)
        .Select(static items => new Finding(items.Key, $"is listed in {string.Join(" and ", items.Select(static item => item.Path))}")));

    /// <summary>As a list has it, or as a sentence: whoever else holds to a rule says so in brackets, or beside the code that does.</summary>
    [Test]
    public void A_rule_is_defined_in_the_header_of_one_type() => AllowList.Judge("rule-headers", DefinedTwice(Headers.Concat(LuaComments.Select(static said => (said.Path, "", said.Text)))));

    [TestCase("/// <summary>\n/// Queues. sessions.Q1: all wait.\n/// </summary>\n", true)]
    [TestCase("/// <summary>sessions.Q1: all wait.</summary>\n", true)]
    [TestCase("/// sessions.Q1  All wait.\n", true)]
    [TestCase("/// sessions.Q1 All wait.\n", true)]
    [TestCase("/// Queues, as sessions.Q1 has it: all wait (sessions.Q1).\n", false)]
    public void A_second_definition_is_found(string header, bool isFound) =>
        Assert.That(DefinedTwice([("A.cs", "A", "/// sessions.Q1: all wait.\n"), ("B.cs", "B", header)]).Any(), Is.EqualTo(isFound));

    private static IEnumerable<Finding> DefinedTwice(IEnumerable<(string Path, string Type, string Text)> headers) => headers
        .SelectMany(static said => ListItem().Matches(said.Text).Concat(Sentence().Matches(said.Text)).Select(match => (Place: $"{said.Path} {said.Type}".TrimEnd(), Rule: match.Groups[1].Value)))
        .Distinct().GroupBy(static item => item.Rule, static item => item.Place).Where(static places => places.Count() > 1)
        .Select(static places => new Finding(places.Key, $"is defined in {string.Join(" and ", places)}"));

    /// <summary>A file that lists rules cites of its room only these, and those of files whose types it speaks of: a list that was renumbered, or copied, is found out.</summary>
    [Test]
    public void A_file_with_rules_of_its_own_cites_these()
    {
        var listed = Comments.Where(static said => said.Path.EndsWith(".cs", StringComparison.Ordinal)).SelectMany(static said => ListItem().Matches(said.Text).Select(match => (said.Path, List: ListOf(match.Groups[1].Value)))).ToHashSet();
        var homes = Defined.ToLookup(static rule => ListOf(rule.Rule), static rule => Path.GetFileNameWithoutExtension(rule.Path));
        AllowList.Judge("rule-cited", Said.SelectMany(static said => Number().Matches(said.Text).Select(match => (said.Path, Rule: match.Value))).Distinct()
            .Where(cited => listed.Any(own => own.Path == cited.Path && RoomOf(own.List) == RoomOf(cited.Rule)) && !listed.Contains((cited.Path, ListOf(cited.Rule))))
            .Where(cited => !homes[ListOf(cited.Rule)].Any(type => Regex.IsMatch(House.Text(cited.Path), $@"\b{type}\b")))
            .Select(static cited => new Finding($"{cited.Path}:{cited.Rule}", "is neither of the rules that the file lists nor of a type that it speaks of")));
    }

    /// <summary>The native library's rules stand in its headers, each letter in one of them, whose name may stand in front.</summary>
    [Test]
    public void Rules_of_the_native_library_stand_in_its_headers()
    {
        var homes = House.Files("libs/native", ".h").SelectMany(static path => NativeItem().Matches(House.Text(path)).Select(match => (Rule: match.Groups[1].Value, Path: path)))
            .ToLookup(static item => item.Rule, static item => Path.GetFileNameWithoutExtension(item.Path));
        AllowList.Judge("native-rules", homes.Where(static home => home.Count() > 1).Select(static home => new Finding(home.Key, $"is listed in {string.Join(" and ", home)}"))
            .Concat(House.Files("libs/native", ".h").Concat(House.Files("libs/native", ".cpp")).SelectMany(path => NativeComment().Matches(House.Text(path))
                .SelectMany(static comment => NativeNumber().Matches(comment.Value)).Where(cited => !IsAtHome(homes, cited))
                .Select(cited => new Finding($"{path}:{cited.Value}", "stands in no header's list")))
                .DistinctBy(static finding => finding.Subject)));
    }

    private static bool IsAtHome(ILookup<string, string> homes, Match cited) =>
        homes[cited.Groups[2].Value].Any(home => !cited.Groups[1].Success || cited.Groups[1].Value == home);

    private static string ListOf(string rule) => rule.TrimEnd("0123456789".ToCharArray());

    private static string RoomOf(string rule) => rule.Split('.')[0];

    /// <summary>Every rule that is written down, and where.</summary>
    internal static (string Rule, string Path)[] Defined => Rules.Value;

    private static IEnumerable<(string Path, string Text)> Said => Comments.Concat(Checks);

    private static IEnumerable<(string Path, string Text)> Comments => CommentsOf(House.Product).Concat(LuaComments);

    private static IEnumerable<(string Path, string Text)> LuaComments => House.Files("libs", ".lua")
        .Select(static path => (path, string.Join('\n', House.Text(path).Split('\n').Where(static line => line.StartsWith("--", StringComparison.Ordinal)))));

    /// <summary>What files say in comments of any kind.</summary>
    internal static IEnumerable<(string Path, string Text)> CommentsOf(IEnumerable<SourceFile> files) => files.SelectMany(static file => file.Unit.DescendantTrivia(descendIntoTrivia: false)
        .Where(static trivia => trivia.Kind() is SyntaxKind.SingleLineCommentTrivia or SyntaxKind.MultiLineCommentTrivia
            or SyntaxKind.SingleLineDocumentationCommentTrivia or SyntaxKind.MultiLineDocumentationCommentTrivia)
        .Select(trivia => (file.Path, trivia.ToFullString())));

    // What stands in front of types, each with the type.
    private static IEnumerable<(string Path, string Type, string Text)> Headers => House.Product
        .SelectMany(static file => file.All<BaseTypeDeclarationSyntax>().Select(type => (file.Path, type.Identifier.Text, string.Concat(type.GetLeadingTrivia().Select(static trivia => trivia.ToFullString())))));

    // What is said when something does not hold: texts that begin with a rule, wherever they stand.
    private static IEnumerable<(string Path, string Text)> Checks => House.Product.SelectMany(static file => file.All<LiteralExpressionSyntax>()
            .Where(static literal => literal.IsKind(SyntaxKind.StringLiteralExpression)).Select(static literal => literal.Token)
            .Concat(file.All<InterpolatedStringTextSyntax>().Select(static text => text.TextToken))
            .Where(static token => Check().IsMatch(token.ValueText)).Select(token => (file.Path, token.ValueText)));

    internal static IEnumerable<string> Documents() => Directory.EnumerateFiles(House.Root, "*.md")
        .Select(static file => Path.GetFileName(file)).Concat(House.Files("website", ".md"));

    private static bool Exists(string document, string target)
    {
        string path = Path.Combine(House.Root, Path.GetDirectoryName(document) ?? "", target);
        return File.Exists(path) || Directory.Exists(path);
    }

    private static bool HasHeader(SourceFile file) => file.Path.StartsWith("main/", StringComparison.Ordinal)
        || file.Unit.DescendantNodes().OfType<BaseTypeDeclarationSyntax>().Take(1).Any(static type => type.GetLeadingTrivia()
            .Any(static trivia => trivia.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)));

    /// <summary>What a check says: a rule, and behind it how it reads.</summary>
    [GeneratedRegex(@"^([a-z]+\.)?[A-Z]{1,2}\d{1,3} [a-z]")]
    private static partial Regex Check();

    [GeneratedRegex(@"\]\(([^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"`([\w/]+\.cs)`")]
    private static partial Regex FileName();

    /// <summary>A rule's number, with or without its room.</summary>
    [GeneratedRegex(@"(?<![\w.#/+]|(?<!\.[A-Z]{1,2}\d{1,3})-)([a-z]+\.)?[A-Z]{1,2}\d{1,3}(?!\w)")]
    private static partial Regex Number();

    /// <summary>A rule where it is said: at the beginning of a line or a sentence, a colon or a blank behind it.</summary>
    [GeneratedRegex(@"(?:^|[.(]\s|//|--)\s*(?:<summary>)?\s*([a-z]+\.[A-Z]{1,2}\d{1,3})(?::| )", RegexOptions.Multiline)]
    private static partial Regex Definition();

    [GeneratedRegex(@"^//\s+([A-Z]\d{1,2}) {2}", RegexOptions.Multiline)]
    private static partial Regex NativeItem();

    [GeneratedRegex("//.*")]
    private static partial Regex NativeComment();

    [GeneratedRegex(@"(?<![\w.])(?:([a-z_]+)\.)?([EPLDN]\d{1,2})(?!\w)")]
    private static partial Regex NativeNumber();

    /// <summary>A rule as a sentence of its own.</summary>
    [GeneratedRegex(@"(?:^\s*(?:///|//|--)?\s*(?:<summary>)?\s*|[.(]\s)([a-z]+\.[A-Z]{1,2}\d{1,3})(?:: |(?<=^///\s\S+) (?=[A-Z]))", RegexOptions.Multiline)]
    private static partial Regex Sentence();

    /// <summary>A rule in a list of them.</summary>
    [GeneratedRegex(@"^\s*(?:///|//|--)?\s*([a-z]+\.[A-Z]{1,2}\d{1,3}) {2}", RegexOptions.Multiline)]
    private static partial Regex ListItem();
}
