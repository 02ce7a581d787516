using System.Diagnostics;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>What a server with a tier is in the middle of when it is killed.</summary>
internal static class KillMoments
{
    private const int LinesMax = 6;

    public static readonly string[] All = ["demotion", "promotion", "compaction", "snapshot", "start"];

    /// <summary>
    /// Lets all write, and kills the server while what the moment is about goes on: its counter has just moved, of records that go to the tier or come back by
    /// <paramref name="records"/>. One that does not come by itself is not waited for beyond so many changes: true if it has come.
    /// </summary>
    public static bool Meet(DataServer server, KilledWriter[] writers, string moment, int records, long changesMax = long.MaxValue / 2)
    {
        long until = writers.Sum(static writer => writer.Acknowledged) + changesMax;
        Thread[] threads = [.. writers.Select(writer => new Thread(() => writer.Run(server.Connect())))];
        using RespConnection watcher = server.Connect();
        Func<bool> goesOn = GoesOn(moment, watcher, records);
        bool isMet = false;
        foreach (Thread thread in threads) thread.Start();
        Eventually.Holds(() => writers.Any(static writer => writer.Wrong is not null) || !server.Process.IsAlive
            || writers.Sum(static writer => writer.Acknowledged) >= until || (isMet = goesOn()));
        Assert.That(server.Process.IsAlive, server.Process.LastWords);
        server.Kill();
        foreach (Thread thread in threads) thread.Await();
        foreach (KilledWriter writer in writers) Assert.That(writer.Wrong, Is.Null, moment);
        return isMet;
    }

    private static Func<bool> GoesOn(string moment, RespConnection watcher, int records) => moment switch
    {
        "promotion" => Moves(watcher, "tier_promoted_records", records),
        "compaction" => Moves(watcher, "tier_compacted_records", 1),
        "snapshot" => () => watcher.Call("BGSAVE").Text.StartsWith("Background", StringComparison.Ordinal),
        _ => Moves(watcher, "tier_demoted_records", records),
    };

    /// <summary>Starts a server and kills it after some lines of its log: at the very beginning, while it loads, or when it has just begun to serve.</summary>
    public static void KillWhileItStarts(DataServer server, TierScratch tier, string flags, int round)
    {
        flags = $"--bind 127.0.0.1 --port 0 --save \"\" --unixsocket {tier.Path}/socket --dir {server.Path} --appendonly yes {flags}";
        using Process process = Process.Start(new ProcessStartInfo(ServerProcess.OurProgram, flags) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        for (int lines = 1 + (round / All.Length % LinesMax); lines > 0 && process.StandardOutput.ReadLine() is not null; lines--)
        {
        }
        process.Kill();
        process.WaitForExit();
    }

    private static Func<bool> Moves(RespConnection watcher, string name, long by)
    {
        long from = watcher.Tiering(name);
        return () => watcher.Tiering(name) >= from + by;
    }
}
