using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>A test says something that can be false. That it ends is looked at by <see cref="WaitTests"/>.</summary>
public sealed class TestRuleTests
{
    private static readonly string[] Attributes = ["Test", "TestCase", "TestCaseSource", "Theory"];

    private static IEnumerable<SourceFile> Tests => House.Sources.Where(static file => file.IsIn("test"));

    /// <summary>By itself, or in a method of the tests that it calls; that nothing is thrown is said by an assertion too.</summary>
    [Test]
    public void Every_test_asserts_something()
    {
        (MethodDeclarationSyntax Method, string Path)[] methods = [.. Tests.SelectMany(static file => file.All<MethodDeclarationSyntax>().Select(method => (method, file.Path)))];
        var asserting = new HashSet<string> { "Assert" };
        int known;
        do
        {
            known = asserting.Count;
            asserting.UnionWith(methods.Where(found => !asserting.Contains(found.Method.Identifier.ValueText) && Names(found.Method).Any(asserting.Contains))
                .Select(static found => found.Method.Identifier.ValueText).ToArray());
        }
        while (asserting.Count > known);
        AllowList.Judge("asserts", methods
            .Where(static found => found.Method.AttributeLists.SelectMany(static list => list.Attributes).Any(static a => Attributes.Contains(a.Name.ToString())))
            .Where(found => !Names(found.Method).Any(asserting.Contains) && !found.Method.ToString().Contains("ExpectedResult", StringComparison.Ordinal))
            .Select(static found => new Finding($"{found.Path}:{found.Method.Identifier.ValueText}", "asserts nothing")));
    }

    private static IEnumerable<string> Names(MethodDeclarationSyntax method) =>
        method.DescendantNodes().OfType<SimpleNameSyntax>().Select(static name => name.Identifier.ValueText);
}
