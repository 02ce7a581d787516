using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// Rules that documents and names of tests cite are written down. A document may leave the room out beside the file or the folder that the rule
/// stands in, and it may have promises with numbers of its own, which the first cells of a table list. Results and the list of changes speak of
/// what was, and are not looked at.
/// </summary>
public sealed partial class RuleCitationTests
{
    private const string Map = "ARCHITECTURE.md";
    private static readonly string[] OfWhatWas = ["CHANGELOG.md"];
    private static readonly string[] OfTheWhole = ["Garnet.Server.Test", "Garnet.Wire"];

    [Test]
    public void Rules_that_documents_cite_are_written_down() => AllowList.Judge("rules-cited", DocumentTests.Documents().Except(OfWhatWas)
        .SelectMany(static document => Unknown(document, House.Text(document))).Distinct());

    /// <summary>Where the map says which rules a file has, or from which to which they go, it has all of them.</summary>
    [Test]
    public void The_map_cites_all_rules_of_a_letter() => AllowList.Judge("rules-left-out", LeftOut(House.Text(Map)));

    [TestCase("holds (net.R1)", false)]
    [TestCase("holds (net.R99)", true)]
    [TestCase("holds (R1)", true)]
    [TestCase("`Reactor.cs`, rules R1–R5", false)]
    [TestCase("`Reactor`, R1", false)]
    [TestCase("`Reactor.cs`, rules R1–R99", true)]
    [TestCase("| [Net](libs/server/Net) | R9 |", false)]
    [TestCase("| P7, P8 | what is promised |\n\nand P8 is kept", false)]
    [TestCase("a virtual machine (32 MiB of L3)", false)]
    public void A_rule_that_nobody_wrote_down_is_found(string text, bool isFound) => Assert.That(Unknown("planted.md", text).Any(), Is.EqualTo(isFound));

    [TestCase("| [Tls](libs/server/Tls) | `TlsSession.cs`, T1–T5 |", false)]
    [TestCase("| [Tls](libs/server/Tls) | `TlsSession.cs`, T1–T4 |", true)]
    [TestCase("| [Tls](libs/server/Tls) | `TlsSession.cs`, T1 |", true)]
    [TestCase("as the rules tls.T1–T4 say", true)]
    [TestCase("as the rule tls.T1 says", false)]
    public void A_rule_that_the_map_leaves_out_is_found(string text, bool isFound) => Assert.That(LeftOut(text).Any(), Is.EqualTo(isFound));

    /// <summary>A number at the head of a test's name is that of a rule of what the project tests, or of a promise of a document.</summary>
    [Test]
    public void Names_of_tests_begin_with_rules_that_are_written_down()
    {
        var promises = DocumentTests.Documents().SelectMany(static document => Own(House.Text(document))).ToHashSet();
        AllowList.Judge("rules-of-names", House.Sources.Where(static file => file.IsIn("test")).SelectMany(file => file.All<MethodDeclarationSyntax>()
            .SelectMany(static method => NameHead().Match(method.Identifier.ValueText).Groups[1].Captures.Select(static head => head.Value.TrimEnd('_')))
            .Where(number => !promises.Contains(number) && !IsOf(file.Path.Split('/')[1], number))
            .Select(number => new Finding($"{file.Path}:{number}", "begins the name of a test, and is no rule of what the project tests"))).Distinct());
    }

    [TestCase("Tsavorite.Test", "U1", true)]
    [TestCase("Garnet.Aof.Test", "T1", false)]
    [TestCase("Garnet.Server.Test", "T99", false)]
    public void A_name_of_no_rule_is_found(string project, string number, bool isRule) => Assert.That(IsOf(project, number), Is.EqualTo(isRule));

    private static bool IsOf(string project, string number) => DocumentTests.Defined.Any(rule => rule.Rule.EndsWith("." + number, StringComparison.Ordinal)
        && (OfTheWhole.Contains(project) || rule.Path.Contains($"/{project.Split('.')[^2]}/", StringComparison.OrdinalIgnoreCase)));

    private static IEnumerable<Finding> Unknown(string document, string text)
    {
        HashSet<string> own = [.. Own(text)];
        return Cited(text).Where(cited => cited.Rules.Length == 0 && (cited.HasRoom || !own.Contains(cited.Number)))
            .Select(cited => new Finding($"{document}:{cited.Number}", cited.HasRoom ? "stands in no header" : "does not say of which room it is, nor is it of a file or folder named in the same line"));
    }

    private static IEnumerable<Finding> LeftOut(string map)
    {
        (string Number, bool HasRoom, bool IsRange, string[] Rules)[] cited = [.. Cited(map)];
        var all = cited.SelectMany(static one => one.Rules).ToHashSet();
        var letters = cited.Where(static one => one.IsRange || !one.HasRoom).SelectMany(static one => one.Rules).Select(static rule => rule.TrimEnd("0123456789".ToCharArray())).ToHashSet();
        return DocumentTests.Defined.Select(static rule => rule.Rule).Distinct().Where(rule => letters.Contains(rule.TrimEnd("0123456789".ToCharArray())) && !all.Contains(rule))
            .Select(static rule => new Finding(rule, $"is left out of {Map}, which names others of its letter"));
    }

    // Every number of a text, ends of ranges and what is between them too, and the rules that it may be: none if there is no such rule.
    private static IEnumerable<(string Number, bool HasRoom, bool IsRange, string[] Rules)> Cited(string text)
    {
        foreach (string line in text.Split('\n'))
        {
            string[] files = [.. Quoted().Matches(line).Select(static match => match.Groups[1].Value)], folders = [.. Folder().Matches(line).Select(static match => match.Groups[1].Value + "/")];
            foreach (Match match in Number().Matches(line))
            {
                (string room, string letter, int first) = (match.Groups[1].Value, match.Groups[2].Value, int.Parse(match.Groups[3].Value, CultureInfo.InvariantCulture));
                int last = match.Groups[4].Success ? int.Parse(match.Groups[4].Value, CultureInfo.InvariantCulture) : first;
                for (int i = first; i <= last; i++)
                {
                    string number = string.Create(CultureInfo.InvariantCulture, $"{letter}{i}");
                    yield return (room + number, room.Length > 0, last > first, room.Length > 0 ? WithRoom(room + number) : Beside(number, files, folders));
                }
            }
        }
    }

    private static string[] WithRoom(string rule) => DocumentTests.Defined.Any(one => one.Rule == rule) ? [rule] : [];

    // The rules of that number in a file that is named beside it; if there are none, in a folder.
    private static string[] Beside(string number, string[] files, string[] folders)
    {
        (string Rule, string Path)[] same = [.. DocumentTests.Defined.Where(rule => rule.Rule.EndsWith("." + number, StringComparison.Ordinal))];
        string[] found = [.. same.Where(rule => files.Contains(Path.GetFileNameWithoutExtension(rule.Path))).Select(static rule => rule.Rule).Distinct()];
        return found.Length > 0 ? found : [.. same.Where(rule => folders.Any(folder => rule.Path.StartsWith(folder, StringComparison.Ordinal))).Select(static rule => rule.Rule).Distinct()];
    }

    private static IEnumerable<string> Own(string text) => FirstCell().Matches(text).SelectMany(static match => match.Groups[1].Value.Split(", "));

    /// <summary>A rule, or from which to which; not the level of a cache.</summary>
    [GeneratedRegex(@"(?<![\w.#/+–-]|MiB of )([a-z]+\.)?([A-Z]{1,2})(\d{1,3})(?:[–-](?:[a-z]+\.)?\2(\d{1,3}))?(?!\w)")]
    private static partial Regex Number();

    [GeneratedRegex(@"`(?:\w+/)*(\w+)(?:\.cs)?`")]
    private static partial Regex Quoted();

    [GeneratedRegex(@"\]\((libs/[\w/]+)\)")]
    private static partial Regex Folder();

    [GeneratedRegex(@"^\| ([A-Z]\d{1,3}(?:, [A-Z]\d{1,3})*) \|", RegexOptions.Multiline)]
    private static partial Regex FirstCell();

    [GeneratedRegex(@"^([A-Z]{1,2}\d{1,3}_)+")]
    private static partial Regex NameHead();
}
