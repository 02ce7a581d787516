using System.Text;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Rule 1 for what clients are told: the text of an error stands in one place, those of several rooms in FaultText.</summary>
public sealed partial class ErrorTextTests
{
    private const int CharsMin = 12; // less is a word, and may be one in many texts
    private const string Hole = "{}"; // for what is put in, whatever it is

    [Test]
    public void The_text_of_an_error_stands_in_one_place() => AllowList.Judge("error-texts", House.Sources.Where(static file => file.IsIn("libs"))
        .AsParallel().AsOrdered().SelectMany(static file => Texts(file.Unit).Select(found => (Place: $"{file.Path}:{file.LineOf(found.Node)}", found.Text)))
        .GroupBy(static found => found.Text, static found => found.Place).Where(static places => places.Count() > 1)
        .Select(static places => new Finding(places.Key, $"stands in {string.Join(", ", places)}")));

    [TestCase("call.FailBytes(\"ERR there is no such thing\"u8)", "ERR there is no such thing")]
    [TestCase("call.FailText(\"ERR there is no such thing\")", "ERR there is no such thing")]
    [TestCase("\"-ERR there is no such thing\\r\\n\"u8", "ERR there is no such thing")]
    [TestCase("\"ERR there is \" + (\"no such \" + \"thing\")", "ERR there is no such thing")]
    [TestCase("$\"WRONGTYPE there are {count} of it\"", "WRONGTYPE there are {} of it")]
    [TestCase("\"\"\"BUSYKEY it is there\"\"\"", "BUSYKEY it is there")]
    [TestCase("\"ERR there is no \" + name", "ERR there is no {}")]
    [TestCase("$\"ERR {refusal}\"", null)]
    [TestCase("\"ERR short\"", null)]
    [TestCase("\"there is no such thing\"", null)]
    public void An_error_is_found_however_it_is_written(string expression, string? text) =>
        Assert.That(Texts(SyntaxFactory.ParseExpression(expression)).Select(static found => found.Text), Is.EqualTo(text is null ? Array.Empty<string>() : [text]));

    // Of a sum the whole of it: its first part is no text of its own.
    private static IEnumerable<(SyntaxNode Node, string Text)> Texts(SyntaxNode root)
    {
        foreach (ExpressionSyntax node in root.DescendantNodesAndSelf().OfType<ExpressionSyntax>().Where(static node => IsText(node) && !IsPart(node)))
        {
            string text = TextOf(node).TrimStart('-').TrimEnd();
            if (text.Replace(Hole, "", StringComparison.Ordinal).Length >= CharsMin && Code().IsMatch(text))
                yield return (node, text);
        }
    }

    private static bool IsText(SyntaxNode node) => node is InterpolatedStringExpressionSyntax || node.IsKind(SyntaxKind.StringLiteralExpression)
        || node.IsKind(SyntaxKind.Utf8StringLiteralExpression) || (node is BinaryExpressionSyntax sum && sum.IsKind(SyntaxKind.AddExpression) && IsText(sum.Left));

    private static bool IsPart(SyntaxNode node) => node.Parent switch
    {
        ParenthesizedExpressionSyntax outer => IsPart(outer),
        BinaryExpressionSyntax sum => sum.IsKind(SyntaxKind.AddExpression) && (IsText(sum) || sum.Right == node),
        _ => false,
    };

    private static string TextOf(ExpressionSyntax node) => node switch
    {
        LiteralExpressionSyntax literal => literal.Token.ValueText,
        InterpolatedStringExpressionSyntax whole => whole.Contents.Aggregate(new StringBuilder(), static (text, part) => text.Append(part is InterpolatedStringTextSyntax plain ? plain.TextToken.ValueText : Hole)).ToString(),
        BinaryExpressionSyntax sum => TextOf(sum.Left) + TextOf(sum.Right),
        ParenthesizedExpressionSyntax inner => TextOf(inner.Expression),
        _ => Hole,
    };

    /// <summary>A code of capitals, and words behind it.</summary>
    [GeneratedRegex("^[A-Z]{3,} .")]
    private static partial Regex Code();
}
