using System.Runtime.CompilerServices;

namespace Garnet.Common.Test;

/// <summary>Waits that end: what has not come about after five minutes is a failure that says what was waited for, not a test without an end.</summary>
internal static class Patience
{
    /// <summary>Longer than anything here takes on a busy machine, and less than what ends a whole run of tests (test/run.sh).</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    internal static void Await(this Thread thread, [CallerArgumentExpression(nameof(thread))] string what = "") => Expect(thread.Join(Limit), what);

    /// <summary>The task's exception is thrown as by <see cref="Task.Wait()"/>.</summary>
    internal static void Await(this Task task, [CallerArgumentExpression(nameof(task))] string what = "") => Expect(task.Wait(Limit), what);

    /// <summary>All of them, as by <see cref="Task.WaitAll(Task[])"/>.</summary>
    internal static void AwaitAll(this IEnumerable<Task> tasks, [CallerArgumentExpression(nameof(tasks))] string what = "") => Expect(Task.WaitAll([.. tasks], Limit), what);

    /// <summary>What the task gives, as by <see cref="Task{T}.Result"/>.</summary>
    internal static T InTime<T>(this Task<T> task, [CallerArgumentExpression(nameof(task))] string what = "")
    {
        Expect(task.Wait(Limit), what);
        return task.Result;
    }

    internal static void Await(this ManualResetEventSlim set, [CallerArgumentExpression(nameof(set))] string what = "") => Expect(set.Wait(Limit), what);

    internal static void Await(this SemaphoreSlim free, [CallerArgumentExpression(nameof(free))] string what = "") => Expect(free.Wait(Limit), what);

    internal static void Await(this CountdownEvent all, [CallerArgumentExpression(nameof(all))] string what = "") => Expect(all.Wait(Limit), what);

    internal static void Await(this WaitHandle set, [CallerArgumentExpression(nameof(set))] string what = "") => Expect(set.WaitOne(Limit), what);

    internal static void Await(this Barrier others, [CallerArgumentExpression(nameof(others))] string what = "") => Expect(others.SignalAndWait(Limit), what);

    /// <summary>Asks again and again, which may be part of the test, until it holds.</summary>
    internal static void Until(Func<bool> holds, [CallerArgumentExpression(nameof(holds))] string what = "") => Expect(SpinWait.SpinUntil(holds, Limit), what);

    private static void Expect(bool came, string what)
    {
        if (!came)
            throw new TimeoutException($"waited {Limit} in vain: {what}");
    }
}
