using System.Runtime.ExceptionServices;
using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>
/// A thread of a test. What it throws, <see cref="Await"/> throws: an exception that leaves a thread would end the process and with it
/// all tests, without the name of one. A test that has failed before does not ask, and the thread ends with its server.
/// </summary>
internal sealed class TestThread
{
    private readonly Thread _thread;
    private ExceptionDispatchInfo? _failure;

    private TestThread(Action body)
    {
        _thread = new Thread(() => Run(body)) { IsBackground = true };
        _thread.Start();
    }

    /// <summary>True until the body has ended.</summary>
    public bool IsAlive => _thread.IsAlive;

    /// <summary>Runs the body on a new thread.</summary>
    public static TestThread Begin(Action body) => new(body);

    /// <summary>The same for as many threads, each with its number from 0.</summary>
    public static TestThread[] Begin(int count, Action<int> body) => [.. Enumerable.Range(0, count).Select(number => new TestThread(() => body(number)))];

    /// <summary>Waits for the end.</summary>
    public void Await()
    {
        _thread.Await();
        _failure?.Throw();
    }

    /// <summary>Waits for the end of all.</summary>
    public static void Join(params TestThread[] threads)
    {
        foreach (TestThread thread in threads) thread.Await();
    }

    private void Run(Action body)
    {
        try
        {
            body();
        }
        catch (Exception e) // for Await
        {
            _failure = ExceptionDispatchInfo.Capture(e);
        }
    }
}
