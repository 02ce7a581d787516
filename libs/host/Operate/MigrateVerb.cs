using System.Runtime.InteropServices;
using Garnet.Migration;

namespace Garnet.Host.Operate;

/// <summary>The verb <c>migrate</c>: takes over a running Redis. The first SIGINT or SIGTERM ends it in order, the next one at once.</summary>
internal static class MigrateVerb
{
    private const int Failed = 1;

    /// <summary>Returns the exit code: 0 if it came to the end that was asked for.</summary>
    public static int Run(string[] words)
    {
        MigrationOptions options = MigrationWords.Parse(words, Environment.GetEnvironmentVariables());
        using var ends = new CancellationTokenSource();
        using PosixSignalRegistration onInt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        using PosixSignalRegistration onTerm = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        using TerminalLines output = TerminalLines.OfStandardOutput();
        using var migration = new RunningMigration(options, new MigrationLines(output.Write, output.WriteProgress, options.AsJson));
        return migration.Run(ends.Token) ? 0 : Failed;

        void OnSignal(PosixSignalContext context)
        {
            context.Cancel = !ends.IsCancellationRequested;
            ends.Cancel();
        }
    }
}
