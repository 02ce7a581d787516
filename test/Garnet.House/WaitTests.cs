using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// A test ends: whatever it waits for, a limit ends the wait and says so. Not looked at is a plain await, which a limit of the test itself
/// (CancelAfter) or of what it awaits (WaitAsync) has to end.
/// </summary>
public sealed class WaitTests
{
    // Found whatever has them: these of ours wait as those of .NET do.
    private static readonly string[] Waits = ["Wait", "Join", "WaitOne", "SignalAndWait"];

    // What is asked of whoever is waited for.
    private static readonly string[] Ends = ["IsAlive", "IsCompleted", "IsCompletedSuccessfully", "HasExited"];

    [Test]
    public void Every_wait_of_a_test_has_an_end() => AllowList.Judge("endless-waits", InTests(Endless)
        .Select(static wait => new Finding(wait.File.Path, $"line {wait.File.LineOf(wait.Node)} waits for ever: Eventually.Holds and what Patience has do not"))
        .DistinctBy(static finding => finding.Subject));

    /// <summary>Who does not look whether what he waited for has come about has slept.</summary>
    [Test]
    public void Nobody_sleeps_by_waiting_for_what_does_not_come() => AllowList.Judge("waits-unseen", InTests(Unseen)
        .Select(static wait => new Finding(wait.File.Path, $"line {wait.File.LineOf(wait.Node)} does not look at what came of the wait"))
        .DistinctBy(static finding => finding.Subject));

    [TestCase("set.Wait();")]
    [TestCase("set.Wait(-1);")]
    [TestCase("set.Wait(Timeout.Infinite);")]
    [TestCase("set.Wait(CancellationToken.None);")]
    [TestCase("handle.WaitOne(Timeout.InfiniteTimeSpan);")]
    [TestCase("Task.WaitAll(task, number);")]
    [TestCase("Task.WaitAny([task, number]);")]
    [TestCase("task.GetAwaiter().GetResult();")]
    [TestCase("number.ConfigureAwait(false).GetAwaiter().GetResult();")]
    [TestCase("int i = number.Result;")]
    [TestCase("int i = number.Result; Task.WaitAll([number], 5);", Description = "the limit comes too late")]
    [TestCase("int i = queue.Take();")]
    [TestCase("foreach (int i in queue.GetConsumingEnumerable()) { }")]
    [TestCase("Monitor.Wait(queue);")]
    [TestCase("SpinWait.SpinUntil(() => task.IsCompleted);")]
    [TestCase("while (!task.IsCompleted) Thread.Yield();")]
    [TestCase("while (!task.IsCompleted) { }")]
    [TestCase("while (!task.IsCompleted) set.Set();")]
    [TestCase("do Thread.SpinWait(9); while (!task.IsCompleted);")]
    [TestCase("for (SpinWait spin = default; !task.IsCompleted; spin.SpinOnce()) { }")]
    [TestCase("string said = \"\"; while (said != \"x\") said = Console.In.ReadLine()!;", Description = "null for ever")]
    [TestCase("while (true) { if (task.IsCompleted) break; Thread.Yield(); }")]
    public void A_wait_without_an_end_is_found(string statements) => Assert.That(Found(Endless, statements), Is.True);

    [TestCase("Assert.That(set.Wait(5));")]
    [TestCase("Assert.That(Task.WaitAll([task, number], 5));")]
    [TestCase("Assert.That(number.Wait(5)); int i = number.Result;")]
    [TestCase("if (number.IsCompleted) number.GetAwaiter().GetResult();")]
    [TestCase("Assert.That(queue.TryTake(out int i, 5));")]
    [TestCase("for (int looks = 0; looks < 5 && !task.IsCompleted; looks++) Thread.Yield();")]
    [TestCase("while (queue.TryTake(out _)) { }")]
    [TestCase("for (int looks = 0; looks < 5 && !task.IsCompleted; looks++) set.Set();")]
    [TestCase("for (int numbers = 0; queue.TryAdd(numbers); numbers++) { }")]
    [TestCase("for (int looks = 0; !task.IsCompleted; looks++) { Thread.Yield(); if (looks > 5) Assert.Fail(); }")]
    [TestCase("while (queue.TryTake(out int i)) Assert.That(i, Is.Zero);")]
    public void A_wait_with_an_end_is_not(string statements) => Assert.That(Found(Endless, statements), Is.False);

    [TestCase("handle.WaitOne(5);", true)]
    [TestCase("new Thread(set.Set).Join(5);", true)]
    [TestCase("_ = task.Wait(5);", true)]
    [TestCase("SpinWait.SpinUntil(() => false, 5);", true)]
    [TestCase("bool came = task.Wait(5);", false)]
    [TestCase("Assert.That(handle.WaitOne(5));", false)]
    public void A_wait_that_nobody_looks_at_is_found(string statements, bool isFound) => Assert.That(Found(Unseen, statements), Is.EqualTo(isFound));

    private static bool Found(Func<SyntaxNode, SemanticModel, bool> search, string statements)
    {
        SyntaxTree tree = CSharpSyntaxTree.ParseText($$"""
            class Planted
            {
                void Wait(ManualResetEventSlim set, WaitHandle handle, Task task, Task<int> number, System.Collections.Concurrent.BlockingCollection<int> queue) { {{statements}} }
            }
            """);
        SemanticModel model = House.LibrariesAndTests.AddSyntaxTrees(tree).GetSemanticModel(tree);
        return tree.GetRoot().DescendantNodes().Any(node => search(node, model));
    }

    private static (SourceFile File, SyntaxNode Node)[] InTests(Func<SyntaxNode, SemanticModel, bool> search) => [.. House.Sources
        .Where(static file => file.IsIn("test")).AsParallel().AsOrdered().SelectMany(file =>
        {
            SemanticModel model = House.ModelOf(file);
            return file.All<SyntaxNode>().Where(node => search(node, model)).Select(node => (file, node));
        })];

    private static bool Endless(SyntaxNode node, SemanticModel model) => node switch
    {
        InvocationExpressionSyntax call => IsEndless(call, model),
        MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Result" } value => IsOfTask(value, model) && !HasEnded(value, value.Expression),
        WhileStatementSyntax loop => IsEndless(loop.Condition, loop.Statement),
        DoStatementSyntax loop => IsEndless(loop.Condition, loop.Statement),
        ForStatementSyntax loop => (loop.Incrementors.Count == 0 || loop.Incrementors.Any(IsPause) || Pauses(loop.Statement)) && IsPause(loop.Statement) && !HasLimit(loop),
        PostfixUnaryExpressionSyntax { Operand: InvocationExpressionSyntax call } => NameOf(call) == "ReadLine" && call.Ancestors().Any(static node => node is WhileStatementSyntax or DoStatementSyntax),
        _ => false,
    };

    private static bool Unseen(SyntaxNode node, SemanticModel model) => node is InvocationExpressionSyntax { ArgumentList.Arguments.Count: > 0 } call
        && (Waits.Contains(NameOf(call)) || NameOf(call) is "SpinUntil" or "WaitAll" or "WaitAny")
        && call.Parent is ExpressionStatementSyntax or AssignmentExpressionSyntax { Left: IdentifierNameSyntax { Identifier.ValueText: "_" } }
        && model.GetSymbolInfo(call).Symbol is IMethodSymbol { ReturnsVoid: false } method && method.ContainingNamespace.ToString()!.StartsWith("System", StringComparison.Ordinal);

    // Without a limit, or with one that is none.
    private static bool IsEndless(InvocationExpressionSyntax call, SemanticModel model)
    {
        SeparatedSyntaxList<ArgumentSyntax> arguments = call.ArgumentList.Arguments;
        string name = NameOf(call);
        if (Waits.Contains(name))
            return (arguments.Count == 0 && call.Expression is MemberAccessExpressionSyntax) || arguments.Any(IsInfinite) || HasTokenOnly(call, model);
        return name switch
        {
            "SpinUntil" => arguments.Count == 1 || arguments.Any(IsInfinite),
            "WaitAll" or "WaitAny" => HasNoLimit(call, model) || arguments.Any(IsInfinite),
            "GetResult" => model.GetSymbolInfo(call).Symbol?.ContainingNamespace.Name == "CompilerServices" && !HasEnded(call, Awaited(call)),
            "Take" or "GetConsumingEnumerable" => model.GetSymbolInfo(call).Symbol?.ContainingType.Name == "BlockingCollection",
            _ => false,
        };
    }

    // One that goes on until somebody has come to an end; one that only looks and pauses, whatever it looks at; one that only looks, unless it does something by that until nothing is left to do; and one that nothing but its inside ends.
    private static bool IsEndless(ExpressionSyntax condition, StatementSyntax body)
    {
        if (condition.IsKind(SyntaxKind.TrueLiteralExpression))
            return Pauses(body) && !HasLimit(body);
        if (condition.DescendantNodes().OfType<MemberAccessExpressionSyntax>().Any(static asked => Ends.Contains(asked.Name.Identifier.ValueText)) && !HasLimit(condition))
            return true;
        if (!IsPause(body))
            return false;
        return Pauses(body) || (!HasLimit(condition) && condition.DescendantNodesAndSelf().Any(static node =>
            node.IsKind(SyntaxKind.LogicalNotExpression) || node.IsKind(SyntaxKind.NotEqualsExpression) || node.IsKind(SyntaxKind.EqualsExpression)));
    }

    private static bool HasLimit(SyntaxNode node) => node.DescendantNodesAndSelf().Any(static inner => inner.IsKind(SyntaxKind.LessThanExpression)
        || inner.IsKind(SyntaxKind.LessThanOrEqualExpression) || inner.IsKind(SyntaxKind.GreaterThanExpression) || inner.IsKind(SyntaxKind.GreaterThanOrEqualExpression));

    private static bool IsInfinite(ArgumentSyntax argument) =>
        argument.Expression.ToString() is "-1" || argument.Expression.ToString().Contains("Timeout.Infinite", StringComparison.Ordinal);

    private static bool HasTokenOnly(InvocationExpressionSyntax call, SemanticModel model) => IsOfSystem(call, model, out IMethodSymbol? method)
        && (method.Parameters is [{ Type.Name: nameof(CancellationToken) }] || (method.ContainingType.Name == nameof(Monitor) && method.Parameters.Length == 1));

    private static bool HasNoLimit(InvocationExpressionSyntax call, SemanticModel model) => IsOfSystem(call, model, out IMethodSymbol? method)
        ? !method.Parameters.Any(static parameter => parameter.Name is "timeout" or "millisecondsTimeout")
        : call.ArgumentList.Arguments.Count == 1;

    private static bool IsOfSystem(InvocationExpressionSyntax call, SemanticModel model, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IMethodSymbol? method)
    {
        method = model.GetSymbolInfo(call).Symbol as IMethodSymbol;
        return method?.ContainingNamespace.ToString()!.StartsWith("System", StringComparison.Ordinal) == true;
    }

    private static bool IsOfTask(MemberAccessExpressionSyntax value, SemanticModel model) =>
        model.GetSymbolInfo(value).Symbol is IPropertySymbol { ContainingType: { Name: "Task" or "ValueTask", ContainingNamespace: { } space } } && space.ToString() == "System.Threading.Tasks";

    // What is awaited in x.GetAwaiter().GetResult(), with or without ConfigureAwait.
    private static ExpressionSyntax Awaited(InvocationExpressionSyntax call)
    {
        ExpressionSyntax inner = call.Expression;
        while (inner is MemberAccessExpressionSyntax { Expression: var left } && inner is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "GetResult" or "GetAwaiter" or "ConfigureAwait" })
            inner = left is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "GetAwaiter" or "ConfigureAwait" } further } ? further : left;
        return inner;
    }

    // Somewhere above it in the same member it is waited for with a limit, or asked whether it has ended.
    private static bool HasEnded(SyntaxNode value, ExpressionSyntax task)
    {
        string waited = task.ToString();
        SyntaxNode? member = value.Ancestors().FirstOrDefault(static node => node is MemberDeclarationSyntax);
        return member?.DescendantNodes().OfType<MemberAccessExpressionSyntax>().Any(before => before.SpanStart < value.SpanStart && before.Expression.ToString() == waited
            && (before.Name.Identifier.ValueText.StartsWith("IsCompleted", StringComparison.Ordinal) || before.Name.Identifier.ValueText == "Await"
                || (before.Name.Identifier.ValueText == "Wait" && before.Parent is InvocationExpressionSyntax { ArgumentList.Arguments.Count: > 0 } wait && !wait.ArgumentList.Arguments.Any(IsInfinite)))) == true;
    }

    // Nothing but pauses, and nothing at all.
    private static bool IsPause(StatementSyntax statement) => statement switch
    {
        EmptyStatementSyntax => true,
        BlockSyntax block => block.Statements.All(IsPause),
        ExpressionStatementSyntax { Expression: var expression } => IsPause(expression),
        _ => false,
    };

    private static bool Pauses(StatementSyntax statement) => statement.DescendantNodesAndSelf().OfType<ExpressionSyntax>().Any(IsPause);

    private static bool IsPause(ExpressionSyntax expression) =>
        expression is InvocationExpressionSyntax call && (NameOf(call) is "Yield" or "SpinWait" ? call.Expression.ToString().EndsWith($"Thread.{NameOf(call)}", StringComparison.Ordinal) : NameOf(call) == "SpinOnce");

    private static string NameOf(InvocationExpressionSyntax call) => call.Expression switch
    {
        MemberAccessExpressionSyntax access => access.Name.Identifier.ValueText,
        MemberBindingExpressionSyntax binding => binding.Name.Identifier.ValueText,
        SimpleNameSyntax name => name.Identifier.ValueText,
        _ => "",
    };
}
