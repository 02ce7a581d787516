using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>
/// SETs as fast as the server takes them while memory and the tier are full and the policy evicts: how long the longest took, by what lies below memory. New keys all the
/// time, so that each needs room that another has to give up.
/// </summary>
internal static class FullStalls
{
    private const int Connections = 8, ValueBytes = 700, Times = 3; // as many keys as fit, so many times

    public static void Run(CompareOptions options, Report report)
    {
        report.Line($"SET of {ValueBytes} bytes, one at a time on {Connections} connections, keys of {Times} times what fits; {options.MemoryMiB} MiB, allkeys-lru, all full before; {options.CellSeconds} s; us.");
        report.Line("");
        report.Head("below memory", "SET/s", "p50", "p99", "p99.9", "p99.99", "longest", "evicted", "of them on the tier", "snapshots", "refused");
        long memory = options.MemoryMiB << 20, keys = Churn.KeysOf(options);
        Peer none = new("ours", "artifacts/bin/GarnetServer/release/garnet-server",
            $"--port {{0}} --bind 127.0.0.1 --save \"\" --appendonly no --maxmemory {memory} --maxmemory-policy allkeys-lru {options.OursFlags}".TrimEnd());
        Run(options, report, "nothing", none, keys);
        Run(options, report, "a tier", Churn.Small(options, isKept: false), keys);
        Run(options, report, "a tier, with a data directory", Churn.Small(options, isKept: true), keys);
    }

    private static void Run(CompareOptions options, Report report, string name, Peer peer, long keys)
    {
        using TierServer server = TierServer.StartAlone(options, peer);
        Churn.Fill(server, keys * Times / 2);
        Workload sets = new("set", 1, ValueBytes, new KeyStream(keys * Times, KeyOrder.Uniform), check: false);
        long evicted = Churn.Evicted(server), onTier = server.Figure("tier_evicted_records"), saves = Churn.Saves(server);
        using Generator generator = new(sets, new GeneratorSettings { Server = server.Running.Server, Connections = Connections, WarmupSeconds = 1, Seconds = options.CellSeconds });
        Measured run = generator.Run();
        string Us(long ns) => Statistics.Text(ns / 1e3, "N0");
        report.Row([name, Statistics.Text(run.OpsPerSecond, "N0"), Us(run.P50), Us(run.P99), Us(run.P999), Us(run.P9999), Us(run.Max),
            Statistics.Text(Churn.Evicted(server) - evicted, "N0"), Statistics.Text(server.Figure("tier_evicted_records") - onTier, "N0"),
            Statistics.Text(Churn.Saves(server) - saves, "N0"), Statistics.Text(run.Errors, "N0")]);
    }
}
