using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Whoever sorts a log goes by the ids of its events: each line has one of its own.</summary>
public sealed class LogEventTests
{
    private const string Log = "libs/server/Base/ServerLog.cs", Shared = "libs/server/Base/LogEvents.cs";

    [Test]
    public void Every_line_of_the_log_has_an_id_of_its_own()
    {
        (string Id, string Line)[] found = [.. Found(Source(Log))];
        Assert.That(found, Has.Length.GreaterThan(50), "the search finds the lines");
        Assert.That(Twice(found), Is.Empty);
    }

    [Test]
    public void The_search_finds_what_it_is_to_find()
    {
        const string text = """
            internal sealed class Log
            {
                internal void One() => Write(LogLevel.Warning, 4, "one");
                internal void Other(int level)
                {
                    Write(levels[level], 4, "other");
                    Write(LogLevel.Information, LogEvents.Progress, "third");
                }
                private void Write(LogLevel level, int id, string text) => Said(id);
            }
            """;
        (string Id, string Line)[] found = [.. Found(CSharpSyntaxTree.ParseText(text).GetRoot())];
        Assert.That(found.Select(static line => line.Id), Is.EqualTo(new[] { "4", "4", Constants()["Progress"] }));
        Assert.That(Twice(found), Is.EqualTo(new[] { "4: One, Other" }));
    }

    private static IEnumerable<(string Id, string Line)> Found(SyntaxNode source)
    {
        Dictionary<string, string> constants = Constants();
        return source.DescendantNodes().OfType<InvocationExpressionSyntax>()
            .Where(static call => call.Expression is IdentifierNameSyntax { Identifier.Text: "Write" })
            .Select(call => (IdOf(call, constants), call.Ancestors().OfType<MethodDeclarationSyntax>().First().Identifier.Text));
    }

    private static string IdOf(InvocationExpressionSyntax call, Dictionary<string, string> constants) =>
        call.ArgumentList.Arguments[1].Expression is MemberAccessExpressionSyntax shared ? constants[shared.Name.Identifier.Text] : call.ArgumentList.Arguments[1].ToString();

    private static Dictionary<string, string> Constants() => Source(Shared).DescendantNodes().OfType<VariableDeclaratorSyntax>()
        .ToDictionary(static constant => constant.Identifier.Text, static constant => constant.Initializer!.Value.ToString());

    private static string[] Twice(IEnumerable<(string Id, string Line)> found) => [.. found.GroupBy(static line => line.Id)
        .Where(static same => same.Count() > 1).Select(static same => $"{same.Key}: {string.Join(", ", same.Select(static line => line.Line))}")];

    private static CompilationUnitSyntax Source(string path) => House.Product.Single(file => file.Path == path).Unit;
}
