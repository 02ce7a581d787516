using System.Diagnostics;
using System.Globalization;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>
/// What replay costs and what transactions cost in it. A replica that has been stopped in the meantime gets the same records at
/// once: how many it takes in per second, with its primary idle but for sending, and how much processor time each takes of it.
/// </summary>
internal static class ReplayRates
{
    private const long Keys = 100_000;
    private const int Connections = 16, Pipeline = 100;
    private const long Records = 1_000_000;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"SET p{Pipeline} c{Connections} over {Keys:N0} keys on a primary with a replica, then {Records:N0} of them for a replica that was stopped: server CPU ns per record; medians of {options.Rounds} rounds [min-max].");
        report.Line("");
        report.Head("system", "workers", "primary's CPU per SET", "replica's CPU per record", "records per core : SETs per core", "thousand records/s when catching up", "MB/s of log");
        foreach (Peer peer in peers)
        {
            foreach (int workers in peer.System == "ours" ? (int[])[1, 2] : [0])
            {
                using LinkedPair pair = Start(peer, options, workers);
                Warm(pair, options);
                List<Replayed> runs = [.. Enumerable.Range(0, options.Rounds).Select(_ => CatchUp(pair, "set", Pipeline))];
                string Spread(Func<Replayed, double> pick, string format = "F0") => Statistics.Spread([.. runs.Select(pick)], format);
                report.Row([
                    pair.Name, workers == 0 ? "" : Statistics.Text(workers, "F0"), Spread(static run => run.WriteNs), Spread(static run => run.ReplayNs),
                    Spread(static run => run.WriteNs / run.ReplayNs, "F2"), Spread(static run => run.PerSecond / 1e3), Spread(static run => run.PerSecond * run.Bytes / 1e6)]);
            }
        }
        report.Line("");
    }

    public static void RunTransactions(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"The same with MULTI ... EXEC around every so many SETs: bytes of the log per SET, and the rate of a replica that catches up.");
        report.Line("");
        report.Head("system", "SETs per transaction", "bytes per SET", "replica's CPU per record", "thousand records/s when catching up");
        foreach (Peer peer in peers)
        {
            foreach ((int sets, string operation, int pipeline) in ((int, string, int)[])[(0, "set", 100), (2, "multi2", 100), (8, "multi8", 100), (32, "multi32", 102)])
            {
                using LinkedPair pair = Start(peer, options, peer.System == "ours" ? 1 : 0);
                Warm(pair, options);
                List<Replayed> runs = [.. Enumerable.Range(0, options.Rounds).Select(_ => CatchUp(pair, operation, pipeline, sets))];
                string Spread(Func<Replayed, double> pick, string format = "F0") => Statistics.Spread([.. runs.Select(pick)], format);
                report.Row([pair.Name, sets == 0 ? "none" : Statistics.Text(sets, "F0"), Spread(static run => run.Bytes, "F1"), Spread(static run => run.ReplayNs), Spread(static run => run.PerSecond / 1e3)]);
            }
        }
        report.Line("");
    }

    private static LinkedPair Start(Peer peer, CompareOptions options, int workers)
    {
        // Room for all that a stopped replica misses.
        string primary = peer.System switch { "ours" => "--repl-backlog-size 1500mb", "redis" => "--client-output-buffer-limit \"replica 0 0 0\"", _ => "" };
        string replica = workers == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $"--replica-apply-threads {workers}");
        return LinkedPair.Start(peer, options, primary, replica);
    }

    private static void Warm(LinkedPair pair, CompareOptions options)
    {
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        RunVerb.Fill(pair.Primary.Server, Keys, Cell.ValueBytes, check: true);
        Write(pair, "set", Pipeline, Records);
        pair.AwaitSame();
        CatchUp(pair, "set", Pipeline);
    }

    private static Replayed CatchUp(LinkedPair pair, string operation, int pipeline, int sets = 0)
    {
        pair.AwaitSame();
        pair.Replica.Pause(true);
        long bytes = LogBytes(pair), commands = sets == 0 ? Records : Records / sets * (sets + 2);
        Measured written = Write(pair, operation, pipeline, commands);
        double records = sets == 0 ? written.Replies : written.Replies / (sets + 2) * sets;
        bytes = LogBytes(pair) - bytes;
        long cpu = ServerClock.ReadNs(pair.Replica.Pid), from = Stopwatch.GetTimestamp();
        pair.Replica.Pause(false);
        pair.AwaitSame();
        double seconds = Stopwatch.GetElapsedTime(from).TotalSeconds;
        cpu = ServerClock.ReadNs(pair.Replica.Pid) - cpu;
        return new Replayed(written.ServerNs * written.Replies / records, cpu / records, records / seconds, bytes / records);
    }

    private static Measured Write(LinkedPair pair, string operation, int pipeline, long commands) =>
        ReplicaSet.Load(pair.Primary, new Workload(operation, pipeline, Cell.ValueBytes, new KeyStream(Keys, KeyOrder.Uniform), check: false), new GeneratorSettings
        {
            Server = pair.Primary.Server, Connections = Connections, BatchesMax = commands / pipeline, ServerPid = pair.Primary.Pid,
        });

    // Bytes that have gone to the log: ours counts what is kept of it, Redis the stream itself, the third one place per part.
    private static long LogBytes(LinkedPair pair)
    {
        string text = pair.Primary.Field("replication", pair.Name == "ours" ? "repl_backlog_histlen" : "master_repl_offset");
        return text.Split(',').Sum(static part => long.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out long bytes) ? bytes : 0);
    }

    private sealed record Replayed(double WriteNs, double ReplayNs, double PerSecond, double Bytes);
}
