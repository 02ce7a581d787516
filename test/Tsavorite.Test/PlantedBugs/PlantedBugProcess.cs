using System.Diagnostics;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Tsavorite.Test.PlantedBugs;

/// <summary>
/// The process that runs one detecting test with one bug planted: the test assembly's own entry point, told the bug's
/// name. Faults are chosen before the engine's first use, so each needs a process of its own.
/// </summary>
internal static class PlantedBugProcess
{
    private const int Unseen = 0, Seen = 1;

    // A run without a bug is every detecting test in one process: 6 s alone, and more than 5 min beside other test runs on the slowest machine seen. Less than what ends a test that hangs.
    private const int LimitMs = 800_000;

    public static int Main(string[] args)
    {
        if (args.Length != 1) return 2;
        AppContext.SetData(StoreTestHooks.PlantedName, args[0]);
        AppDomain.CurrentDomain.FirstChanceException += static (_, thrown) => Leave(thrown.Exception);
        PlantedBugList.All.Single(bug => bug.Fault.ToString() == args[0]).Detect();
        return Unseen;
    }

    // At once: closing a store that a bug has spoilt may never end.
    private static void Leave(Exception thrown)
    {
        if (thrown is not AssertionException) return;
        Console.WriteLine(thrown.Message);
        Environment.Exit(Seen);
    }

    /// <summary>True if the test saw the bug, by an assertion or by an invariant of the engine; what it said.</summary>
    public static bool Sees(PlantedFault fault, out string said)
    {
        ProcessStartInfo start = new(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet")
        {
            ArgumentList = { typeof(PlantedBugProcess).Assembly.Location, fault.ToString() },
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync(), errors = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(LimitMs)) process.Kill();
        process.WaitForExit();
        said = $"exit {process.ExitCode}: {output.InTime()}{errors.InTime()}";
        return process.ExitCode == Seen || said.Contains("broken invariant: ", StringComparison.Ordinal);
    }
}
