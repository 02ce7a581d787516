using System.Net.Sockets;
using Garnet.Common;
using Garnet.Common.Faults;

namespace Garnet.Server.Base;

/// <summary>
/// A thread of the server; libs/server has no others. What its work expects to fail it handles itself. What else of the environment fails there (a
/// disk, a connection, memory) goes to whoever ends the server in order, with a message. A mistake of ours ends the process at once, as a
/// failed Check does: nobody can say any more what the store holds.
/// </summary>
internal static class BackgroundThread
{
    /// <summary>True if the environment failed, or cannot hold what was asked of it; else the mistake is ours.</summary>
    internal static bool IsOfEnvironment(Exception e) =>
        e is GarnetException or TooLargeException or OutOfMemoryException or IOException or UnauthorizedAccessException or SocketException;

    /// <summary>A thread that does the work once it is started.</summary>
    internal static Thread Of(string name, Action work, Action<GarnetException> fail) =>
        new(() => Run(name, work, fail)) { IsBackground = true, Name = name };

    /// <summary>A thread that does the work from now on.</summary>
    internal static Thread Begin(string name, Action work, Action<GarnetException> fail)
    {
        Thread thread = Of(name, work, fail);
        thread.Start();
        return thread;
    }

    /// <summary>What the operator is told of a failure of the environment.</summary>
    internal static GarnetException FailureOf(
        string what, Exception e, string next = "Look at the disk and at the memory of the machine, then start again") =>
        e as GarnetException ?? new GarnetException(ExitKind.Data, what, WhyOf(e), next);

    /// <summary>Its reason, for people.</summary>
    internal static string WhyOf(Exception e) => e is OutOfMemoryException ? "the system has no memory for it" : e.Message;

    private static void Run(string name, Action work, Action<GarnetException> fail)
    {
        try
        {
            work();
        }
        catch (Exception e) when (IsOfEnvironment(e))
        {
            fail(FailureOf($"the server cannot go on (thread {name})", e));
        }
    }
}
