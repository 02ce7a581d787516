using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>What is not written here at all, or in a few homes only.</summary>
public sealed partial class BannedCodeTests
{
    private static readonly string[] ConsoleHomes = ["libs/host", "main", "benchmark", "playground", "test"];
    private static readonly string[] ClockHomes = ["libs/host", "libs/common/Time", "benchmark", "playground", "test"];

    [Test]
    public void Product_and_tests_do_not_sleep() => AllowList.Judge("sleep", House.Sources
        .Where(static file => file.IsIn("libs") || file.IsIn("main") || file.IsIn("test")).AsParallel().AsOrdered()
        .SelectMany(static file => Sleeps(file.Unit, House.ModelOf(file)).Select(call => new Finding(file.Path, $"uses {call}"))).Distinct());

    [TestCase("Thread.Sleep(5);", true)]
    [TestCase("System.Threading.Thread.Sleep(5);", true)]
    [TestCase("Sleep(5);", true, Description = "by using static")]
    [TestCase("global::System.Threading.Tasks.Task.Delay(5);", true)]
    [TestCase("Action<int> sleep = Nap.Sleep;", true, Description = "by another name")]
    [TestCase("string Delay = \"\"; Delay.ToString();", false)]
    public void Whoever_sleeps_is_found(string statements, bool isFound)
    {
        SyntaxTree tree = CSharpSyntaxTree.ParseText($$"""
            using static System.Threading.Thread;
            using Nap = System.Threading.Thread;
            class Planted { void Do() { {{statements}} } }
            """);
        Assert.That(Sleeps(tree.GetRoot(), House.LibrariesAndTests.AddSyntaxTrees(tree).GetSemanticModel(tree)).Any(), Is.EqualTo(isFound));
    }

    // Whatever its name is written like.
    private static IEnumerable<string> Sleeps(SyntaxNode root, SemanticModel model) => root.DescendantNodes().OfType<SimpleNameSyntax>()
        .Where(static name => name.Identifier.ValueText is "Sleep" or "Delay")
        .Select(name => model.GetSymbolInfo(name) is var found ? found.Symbol ?? found.CandidateSymbols.FirstOrDefault() : null).OfType<IMethodSymbol>()
        .Where(static method => method.ContainingType.Name is "Thread" or "Task" && method.ContainingNamespace.ToString()!.StartsWith("System.Threading", StringComparison.Ordinal))
        .Select(static method => $"{method.ContainingType.Name}.{method.Name}");

    [Test]
    public void Product_code_asks_a_clock_for_the_time() => AllowList.Judge("clock",
        Calls("DateTime.UtcNow", "DateTime.Now", "DateTimeOffset.UtcNow", "DateTimeOffset.Now").Where(f => !IsIn(f, ClockHomes)).Distinct());

    /// <summary>One that nobody guards ends the process when a disk or the memory fails.</summary>
    [Test]
    public void Threads_of_the_server_are_begun_in_one_place() => AllowList.Judge("threads", House.Sources
        .Where(static file => file.IsIn("libs/server") && file.Path != "libs/server/Base/BackgroundThread.cs")
        .SelectMany(static file => file.All<BaseObjectCreationExpressionSyntax>().Where(IsThread)
            .Select(made => new Finding(file.Path, $"line {file.LineOf(made)} makes a thread: BackgroundThread does"))).DistinctBy(static finding => finding.Subject));

    /// <summary>Memory that no collector frees has few owners, who free it: NativeArray and NativeBuffer for whoever has no reason to be one.</summary>
    [Test]
    public void Native_memory_has_few_owners() => AllowList.Judge("native-memory", House.Product
        .Where(static file => file.All<IdentifierNameSyntax>().Any(IsOfNativeMemory))
        .Select(static file => new Finding(file.Path, "takes or frees native memory: NativeArray and NativeBuffer do")));

    [Test]
    public void Libraries_do_not_print() => AllowList.Judge("console", House.Sources
        .Where(static file => !ConsoleHomes.Any(file.IsIn))
        .Where(static file => file.All<MemberAccessExpressionSyntax>().Any(static m => m.Expression.ToString() == "Console"))
        .Select(static file => new Finding(file.Path, "uses Console")));

    [Test]
    public void Randomness_has_a_seed() => AllowList.Judge("random", House.Sources.SelectMany(static file => file
        .All<ObjectCreationExpressionSyntax>()
        .Where(static made => made.Type.ToString() == "Random" && made.ArgumentList is { Arguments.Count: 0 })
        .Select(made => new Finding(file.Path, $"line {file.LineOf(made)}: new Random() cannot be repeated"))).Distinct());

    [Test]
    public void Exceptions_are_caught_by_kind() => AllowList.Judge("catch-all", House.Product
        .Where(static file => !file.IsIn("libs/host"))
        .SelectMany(static file => file.All<CatchClauseSyntax>().Where(CatchesAll)
            .Select(clause => new Finding(file.Path, $"line {file.LineOf(clause)} catches everything")))
        .DistinctBy(static finding => finding.Subject));

    [Test]
    public void Nobody_throws_a_plain_exception() => AllowList.Judge("throw", House.Sources
        .Where(static file => file.All<ObjectCreationExpressionSyntax>().Any(static made => made.Type.ToString() is "Exception" or "ApplicationException"))
        .Select(static file => new Finding(file.Path, "creates a plain Exception")));

    [Test]
    public void A_todo_names_its_issue() => AllowList.Judge("todo", DocumentTests.CommentsOf(House.Sources)
        .Where(static said => TodoWithoutNumber().IsMatch(said.Text)).DistinctBy(static said => said.Path)
        .Select(static said => new Finding(said.Path, "has a TODO, FIXME or HACK without (#number)")));

    [Test]
    public void Documentation_tags_are_not_empty() => AllowList.Judge("empty-tags", DocumentTests.CommentsOf(House.Sources)
        .Where(static said => EmptyTag().IsMatch(said.Text)).DistinctBy(static said => said.Path)
        .Select(static said => new Finding(said.Path, "has an empty documentation tag")));

    [Test]
    public void There_are_no_regions() => AllowList.Judge("regions", House.Sources
        .Where(static file => file.Unit.DescendantTrivia().Any(static trivia => trivia.IsKind(SyntaxKind.RegionDirectiveTrivia)))
        .Select(static file => new Finding(file.Path, "has a #region: make it a type")));

    [TestCase("NativeMemory.Alloc(5)", true)]
    [TestCase("System.Runtime.InteropServices.Marshal.AllocHGlobal(5)", true)]
    [TestCase("Marshal.ReAllocCoTaskMem(at, 5)", true)]
    [TestCase("Marshal.StringToCoTaskMemUTF8(text)", true)]
    [TestCase("Marshal.GetLastPInvokeError()", false)]
    public void Whoever_takes_native_memory_is_found(string expression, bool isFound) =>
        Assert.That(SyntaxFactory.ParseExpression(expression).DescendantNodesAndSelf().OfType<IdentifierNameSyntax>().Any(IsOfNativeMemory), Is.EqualTo(isFound));

    private static bool IsOfNativeMemory(IdentifierNameSyntax name) => name.Identifier.ValueText == "NativeMemory" || MarshalMemory().IsMatch(name.Identifier.ValueText);

    private static bool IsThread(BaseObjectCreationExpressionSyntax made) =>
        made is ObjectCreationExpressionSyntax { Type: var type } && type.ToString() is "Thread" or "System.Threading.Thread";

    private static IEnumerable<Finding> Calls(params string[] names) => House.Sources.SelectMany(file => file
        .All<MemberAccessExpressionSyntax>().Where(access => names.Contains(access.ToString()))
        .Select(access => new Finding(file.Path, $"uses {access}")));

    private static bool IsIn(Finding finding, string[] rooms)
        => rooms.Any(room => finding.Subject.StartsWith(room + "/", StringComparison.Ordinal));

    /// <summary>A bare catch, or Exception without a filter, that does not simply pass the exception on.</summary>
    private static bool CatchesAll(CatchClauseSyntax clause)
    {
        bool everything = clause.Declaration is null || clause.Declaration.Type.ToString() is "Exception" or "System.Exception";
        return everything && clause.Filter is null && clause.Block.Statements.LastOrDefault() is not ThrowStatementSyntax { Expression: null };
    }

    [GeneratedRegex(@"\b(TODO|FIXME|HACK)\b(?!\(#\d+\))")]
    private static partial Regex TodoWithoutNumber();

    [GeneratedRegex("^(ReAlloc|Alloc|Free|.*To)(HGlobal|CoTaskMem|BSTR)")]
    private static partial Regex MarshalMemory();

    [GeneratedRegex(@"<(summary|param|returns|remarks|typeparam)[^>]*>[\s/]*</\1>")]
    private static partial Regex EmptyTag();
}
