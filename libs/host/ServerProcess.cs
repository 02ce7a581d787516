using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Host.Operate;
using Garnet.Server;
using Garnet.Server.Persistence;
using Microsoft.Extensions.Logging;

namespace Garnet.Host;

/// <summary>
/// The life of a process that is a server: settings, start, signals, exit code.
/// host.X1: the exit code is 0 after an orderly stop, an <see cref="ExitKind"/> if the start was refused, 1 if the server broke.
/// host.X2: the first SIGTERM or SIGINT stops in order, another a second later or more ends the process at once. Sooner it is the first again: a terminal
/// and what started the server both pass Ctrl-C on.
/// host.X3: a stop that was asked for, by a signal or SHUTDOWN, comes to its end: a command that holds a thread up does not hold it up for ever,
/// unless the last snapshot waits for it.
/// </summary>
public static class ServerProcess
{
    private const int Broken = 1, AgainMs = 1000;
    private static readonly TimeSpan StopGrace = TimeSpan.FromSeconds(10);

    /// <summary>Runs until the server has stopped; returns the exit code.</summary>
    /// <param name="args">The command line.</param>
    /// <param name="beside">Starts what this process has beside the server, once that serves, and gives back what is to be disposed of before it; null if there is nothing.</param>
    public static int Run(string[] args, Func<RespServer, ILogger, IDisposable?> beside)
    {
        try
        {
            CommandLine line = CommandLine.Parse(args);
            return line.Verb switch
            {
                CommandVerb.Help => Say(Usage.Text),
                CommandVerb.Version => Say(Banner.Name),
                CommandVerb.CheckData or CommandVerb.RepairData => RunTool(line),
                CommandVerb.Migrate => MigrateVerb.Run(line.VerbWords),
                CommandVerb.Restore => RestoreVerb.Run(line.VerbWords),
                CommandVerb.PrintReference => AnswerStream.Run(output => Reference.Print(line.Reference, output)),
                _ => RunConfigured(line, beside),
            };
        }
        catch (GarnetException e)
        {
            Console.Error.WriteLine($"garnet-server: {e.What}: {e.Why}\n{e.Next}.");
            return (int)e.Kind;
        }
    }

    private static void FindOpenSsl()
    {
        if (!OperatingSystem.IsLinux() || OpenSsl.IsThere())
            return;
        throw new GarnetException(ExitKind.Configuration, "the server cannot start", "OpenSSL is not there (libssl.so.3)",
            "Install it: apt-get install libssl3, or the like");
    }

    private static int Say(string text)
    {
        return AnswerStream.Run(output =>
        {
            output.WriteLine(text);
            return true;
        });
    }

    // False if a thread that serves clients holds a stop up for too long (host.X3), and nothing waits for that stop.
    private static bool Ends(RespServer server, ServerSettings settings, LineLog log)
    {
        Task.WaitAny(server.Completion, server.StopRequested);
        TimeSpan grace = StopGrace + TimeSpan.FromSeconds(settings.Replication.StopSeconds);
        if (Task.WaitAny([server.Completion], grace) == 0 || !server.IsServing)
            return true;
        if (!server.SavesAtStop)
        {
            if (server.LogTrouble is { } trouble)
            {
                log.LogCritical(
                    "The append-only file cannot be written ({Trouble}), also {Seconds:F0} s after the stop was asked for: "
                    + "the process ends without what waits for it. What was acknowledged is in the log, as appendfsync says. "
                    + "Make room on the disk",
                    trouble, grace.TotalSeconds);
                return false;
            }
            log.LogCritical("A command has not ended {Seconds:F0} s after the stop was asked for: the process ends without it. {Kept}",
                grace.TotalSeconds,
                server.HasLog ? "What was acknowledged is in the log, as appendfsync says"
                    : server.DataDirectory is null ? "Nothing was to be kept: there is no data directory"
                    : "No snapshot was to be taken");
            return false;
        }
        log.LogCritical("A command has not ended {Seconds:F0} s after the stop was asked for. The stop waits for it, "
            + "as the last snapshot is still to be taken; a signal ends the process without it", grace.TotalSeconds);
        Task.WaitAny(server.Completion);
        return true;
    }

    private static int RunTool(CommandLine line)
    {
        using TerminalLines lines = TerminalLines.OfStandardOutput();
        int code = line.Verb == CommandVerb.CheckData ? DataTool.Check(line.Directory, lines.Write, lines.WriteProgress, line.MemoryFile)
            : DataTool.Repair(line.Directory, line.Applies, lines.Write, lines.WriteProgress, line.MemoryFile);
        return code == 0 && lines.Lost > 0 ? AnswerStream.CannotWrite($"{lines.Lost} lines are lost") : code;
    }

    private static int RunConfigured(CommandLine line, Func<RespServer, ILogger, IDisposable?> beside)
    {
        using CommandsAhead? commands = line.Verb == CommandVerb.Serve ? new CommandsAhead() : null;
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        var sources = new SettingSources(settings, table);
        sources.AddAll(line);
        if (line.Verb == CommandVerb.Ping)
            return AnswerStream.Run(output => HealthCheck.Ask(settings, output));
        if (line.Verb == CommandVerb.Status)
            return AnswerStream.Run(output => StatusVerb.Run(settings, line.AsJson, line.Watches, output));
        if (line.Verb == CommandVerb.Doctor)
            return AnswerStream.Run(output => DoctorVerb.Run(settings, Machine.Own, line.AsJson, output));
        if (line.Verb == CommandVerb.CheckConfig)
            return ReportFile(line.ConfigFile!, sources.Notices);
        return Serve(settings, table, sources.Notices, line.ConfigFile, commands, beside);
    }

    private static int ReportFile(string path, List<string> notices)
    {
        return AnswerStream.Run(output =>
        {
            notices.ForEach(output.WriteLine);
            output.WriteLine($"{path} can be used.");
            return true;
        });
    }

    private static int Serve(
        ServerSettings settings, SettingTable table, List<string> notices, string? configFile, CommandsAhead? commands,
        Func<RespServer, ILogger, IDisposable?> beside)
    {
        FindOpenSsl();
        if (OperatingSystem.IsLinux())
        {
            Libc.OutliveFileLimit();
            Libc.KeepHeapSmall();
        }

        using var log = new LineLog(settings.Inspect);
        using var server = new RespServer(settings, table, log, commands) { ConfigurationFile = configFile };
        server.RewriteConfiguration = ConfigRewrite.Of(configFile, table, () => server.UserLines);
        long firstMs = 0;
        if (OperatingSystem.IsLinux())
            Libc.HeedInterrupt(); // what a script starts with & has it ignored, and .NET leaves that so
        using PosixSignalRegistration onTerm = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        using PosixSignalRegistration onInt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        server.Start();
        using var garbage = new IdleGarbage(); // only in a process of our own: an application that embeds the server decides for itself
        garbage.Start();
        Banner.Write(log, server, settings, notices, static (name, value) => $"--{name} {value}");
        using IDisposable? besideServer = beside(server, log); // it tells of a load too
        if (Task.WaitAny(server.Loaded, server.Completion) == 0)
            Banner.WriteReady(log);
        try
        {
            if (!Ends(server, settings, log))
            {
                log.Dispose();
                Environment.Exit(Broken);
            }
            server.Completion.GetAwaiter().GetResult();
        }
        catch (GarnetException e) // the server has told why
        {
            return (int)e.Kind;
        }
        return 0;

        void OnSignal(PosixSignalContext context)
        {
            context.Cancel = true;
            if (Interlocked.CompareExchange(ref firstMs, Environment.TickCount64, 0) is not 0 and var first)
            {
                if (Environment.TickCount64 - first >= AgainMs)
                    Environment.Exit(Broken); // host.X2
                return;
            }
            // In one piece: a text with places to fill needs assemblies, and where no file can be opened any more there are none.
            log.Log(LogLevel.Information, default, $"{context.Signal}: stopping; once more ends at once", null, static (text, _) => text);
            ThreadPool.UnsafeQueueUserWorkItem(static server => server.Stop(StopGrace), server, preferLocal: false);
        }
    }
}
