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
        Assert.That(Found("int Of() => 12 + (key.Length + bytesMax);"), Is.True);
        Assert.That(Found("long Of => key.Length + bytesMax;"), Is.True, "what it is given back as is wide, the sum is not");
        Assert.That(Found("int Of { get => key.Length + bytesMax; }"), Is.True);
        Assert.That(Found("int Of() { return isSmall ? 0 : key.Length + bytesMax; }"), Is.True);
        Assert.That(Found("long Of() { return 12L + key.Length + bytesMax; }"), Is.False);
        Assert.That(Found("int Of() => (int)(12L + key.Length + bytesMax);"), Is.False);
        Assert.That(Found("bool Of() => key.Length + bytesMax > most;"), Is.False, "it is kept nowhere");
        Assert.That(Found("string Of() => key.Length + bytesMax;"), Is.False, "it is a text");

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

    // In a variable, or as what a method or a property gives back.
    private static bool IsKeptAsInt(ExpressionSyntax sum)
    {
        SyntaxNode? kept = sum.Ancestors().FirstOrDefault(static node => node is not (ParenthesizedExpressionSyntax or ConditionalExpressionSyntax or EqualsValueClauseSyntax or VariableDeclaratorSyntax or SwitchExpressionArmSyntax or SwitchExpressionSyntax));
        TypeSyntax? type = kept switch
        {
            VariableDeclarationSyntax { Parent: FieldDeclarationSyntax field } when field.Modifiers.Any(SyntaxKind.ConstKeyword) => null, // the compiler adds it, and would say so
            VariableDeclarationSyntax declared => declared.Type,
            ReturnStatementSyntax or ArrowExpressionClauseSyntax => TypeOf(kept),
            _ => null,
        };
        return type is PredefinedTypeSyntax { Keyword.RawKind: (int)SyntaxKind.IntKeyword or (int)SyntaxKind.UIntKeyword or (int)SyntaxKind.LongKeyword or (int)SyntaxKind.ULongKeyword };
    }

    private static TypeSyntax? TypeOf(SyntaxNode body) => body.Ancestors().FirstOrDefault(static node => node is AnonymousFunctionExpressionSyntax or LocalFunctionStatementSyntax or MemberDeclarationSyntax) switch
    {
        LocalFunctionStatementSyntax local => local.ReturnType,
        MethodDeclarationSyntax method => method.ReturnType,
        BasePropertyDeclarationSyntax property => property.Type,
        _ => null,
    };

    [GeneratedRegex("^(Length|length|[a-zA-Z]*[bB]ytesMax|ValueBytes|KeyBytes|[mM]oreBytes|EncodedBytes)$")]
    private static partial Regex LengthName();
}
