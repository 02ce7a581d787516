using System.Runtime.ExceptionServices;
using Garnet.Common.Linux;
using Garnet.Server.Base;

namespace Garnet.Server.Replication;

/// <summary>
/// Work that lets those who serve clients go first where cores are few. What has stepped back may not step forward again, nor may the
/// threads it begins: so it has a thread of its own, which ends with it, and must not begin others.
/// </summary>
internal static class SteppedBack
{
    /// <summary>Runs the work to its end; what its connection throws is thrown here.</summary>
    internal static void Run(string name, Action work)
    {
        ExceptionDispatchInfo? failure = null;
        BackgroundThread.Begin(name, () => failure = Caught(work), static failure => throw failure).Join(); // nothing is left to fail there
        failure?.Throw();
    }

    private static ExceptionDispatchInfo? Caught(Action work)
    {
        if (OperatingSystem.IsLinux())
            Libc.StepBack();
        try
        {
            work();
            return null;
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            return ExceptionDispatchInfo.Capture(e);
        }
    }
}
