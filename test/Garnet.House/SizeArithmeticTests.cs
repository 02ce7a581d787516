using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// Lengths that come from outside are added with 64 bits or checked: a sum that wraps becomes a small buffer and a large copy.
/// </summary>
public sealed partial class SizeArithmeticTests
{
    [Test]
    public void Sums_of_lengths_are_wide_or_checked() => AllowList.Judge("int-sum", House.Product
        .SelectMany(static file => file.All<BinaryExpressionSyntax>()
            .Where(static sum => sum.IsKind(SyntaxKind.AddExpression) && sum.Parent is not BinaryExpressionSyntax { RawKind: (int)SyntaxKind.AddExpression })
            .Where(static sum => IsKeptAsInt(sum) && Lengths(sum) >= 2 && !IsWide(sum))
            .Select(sum => new Finding(file.Path, $"line {file.LineOf(sum)}: {sum} may wrap"))));

    [Test]
    public void The_search_finds_what_it_is_to_find()
    {
        Assert.That(Found("int needed = 12 + key.Length + bytesMax;"), Is.True);
        Assert.That(Found("long needed = 12 + key.Length + bytesMax;"), Is.True, "the variable is wide, the sum is not");
        Assert.That(Found("long needed = 12L + key.Length + bytesMax;"), Is.False);
        Assert.That(Found("int needed = checked(12 + key.Length + bytesMax);"), Is.False);
        Assert.That(Found("int needed = (int)Math.Min(12L + key.Length + bytesMax, most);"), Is.False);

        static bool Found(string statement) => CSharpSyntaxTree.ParseText(statement).GetRoot().DescendantNodes().OfType<BinaryExpressionSyntax>()
            .Any(static sum => sum.IsKind(SyntaxKind.AddExpression) && IsKeptAsInt(sum) && Lengths(sum) >= 2 && !IsWide(sum));
    }

    private static int Lengths(ExpressionSyntax sum) => sum.DescendantNodesAndSelf().OfType<SimpleNameSyntax>()
        .Where(static name => LengthName().IsMatch(name.Identifier.Text))
        .Select(static name => name.Parent is MemberAccessExpressionSyntax access && access.Name == name ? access.ToString() : name.ToString()).Distinct().Count();

    private static bool IsWide(ExpressionSyntax sum) => sum.DescendantNodesAndSelf().Any(static node =>
            node is CastExpressionSyntax { Type: PredefinedTypeSyntax { Keyword.RawKind: (int)SyntaxKind.LongKeyword or (int)SyntaxKind.ULongKeyword } }
            || (node is LiteralExpressionSyntax literal && literal.Token.Value is long or ulong))
        || sum.Ancestors().Any(static node => node is CheckedExpressionSyntax);

    private static bool IsKeptAsInt(ExpressionSyntax sum)
    {
        VariableDeclarationSyntax? declared = sum.Ancestors().OfType<VariableDeclarationSyntax>().FirstOrDefault();
        return declared is { Type: PredefinedTypeSyntax { Keyword.RawKind: (int)SyntaxKind.IntKeyword or (int)SyntaxKind.LongKeyword or (int)SyntaxKind.ULongKeyword } } && sum.Ancestors().TakeWhile(node => node != declared).All(static node =>
            node is EqualsValueClauseSyntax or VariableDeclaratorSyntax or ParenthesizedExpressionSyntax);
    }

    [GeneratedRegex("^(Length|length|[a-zA-Z]*[bB]ytesMax|ValueBytes|KeyBytes|[mM]oreBytes|EncodedBytes)$")]
    private static partial Regex LengthName();
}
