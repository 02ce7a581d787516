using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Documents point at things that exist; rooms say what they are.</summary>
public sealed partial class DocumentTests
{
    [Test]
    public void Links_resolve() => AllowList.Judge("links", Documents().SelectMany(static document =>
        Link().Matches(House.Text(document)).Select(match => (document, Target: match.Groups[1].Value.Split('#')[0])))
        .Where(static link => link.Target.Length > 0 && !link.Target.Contains("://", StringComparison.Ordinal) && !Exists(link.document, link.Target))
        .Select(static link => new Finding($"{link.document} to {link.Target}", "leads nowhere")));

    [Test]
    public void Every_room_opens_with_a_header() => AllowList.Judge("room-header", House.Product
        .GroupBy(static file => Path.GetDirectoryName(file.Path)!)
        .Where(static room => !room.Any(HasHeader))
        .Select(static room => new Finding(room.Key, "has no file whose type says in a summary what the room is for")));

    [Test]
    public void Every_invariant_a_check_names_is_written_down()
    {
        var known = House.Product.SelectMany(static file => Tag().Matches(file.Text)).Select(static match => match.Groups[1].Value).ToHashSet();
        AllowList.Judge("invariants", House.Product.SelectMany(static file => file.All<InvocationExpressionSyntax>()
            .Where(static call => call.Expression.ToString() == "Check.That")
            .SelectMany(static call => call.ArgumentList.Arguments.Select(static a => a.Expression).OfType<LiteralExpressionSyntax>())
            .Select(literal => (file.Path, Match: TagAlone().Match(literal.Token.ValueText))))
            .Where(found => found.Match.Success && !known.Contains(found.Match.Value))
            .Select(static found => new Finding($"{found.Path}:{found.Match.Value}", "stands in no header")).Distinct());
    }

    private static IEnumerable<string> Documents() => Directory.EnumerateFiles(House.Root, "*.md")
        .Select(static file => Path.GetFileName(file)).Concat(House.Files("website", ".md"));

    private static bool Exists(string document, string target)
    {
        string path = Path.Combine(House.Root, Path.GetDirectoryName(document) ?? "", target);
        return File.Exists(path) || Directory.Exists(path);
    }

    private static bool HasHeader(SourceFile file) => file.Path.StartsWith("main/", StringComparison.Ordinal)
        || file.Unit.DescendantNodes().OfType<BaseTypeDeclarationSyntax>().Take(1).Any(static type => type.GetLeadingTrivia()
            .Any(static trivia => trivia.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)));

    [GeneratedRegex(@"\]\(([^)\s]+)\)")]
    private static partial Regex Link();

    /// <summary>An invariant at its definition: a tag and a colon in a comment.</summary>
    [GeneratedRegex(@"//.*?\b([A-Z]{1,2}\d{1,2}):")]
    private static partial Regex Tag();

    [GeneratedRegex(@"^[A-Z]{1,2}\d{1,2}\b")]
    private static partial Regex TagAlone();
}
