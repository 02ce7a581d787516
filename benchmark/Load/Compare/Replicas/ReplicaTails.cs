using System.Globalization;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>Latency of reads on a replica while it applies what comes in at a rate, and how many of them had to wait or begin anew.</summary>
internal static class ReplicaTails
{
    private const long Keys = 100_000;
    private const int Connections = 16, WriterConnections = 2;
    private const double ReadRate = 20_000;
    private static readonly double[] Rates = [0, 100_000, 500_000, 1_000_000];

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"{ReadRate:N0} GETs/s (p1 c{Connections}, open loop) on a replica of {Keys:N0} keys, writers on its primary at a rate; latency in us, medians of {options.Rounds} rounds; share of reads that waited for a batch or began anew.");
        report.Line("");
        report.Head("system", "keys", "writes/s", "reached", "p50", "p99", "p99.9", "max", "waited", "began anew", "gate us/s");
        foreach (Peer peer in peers)
        {
            using LinkedPair pair = LinkedPair.Start(peer, options);
            RunVerb.Fill(pair.Primary.Server, Keys, Cell.ValueBytes, check: true);
            pair.AwaitSame();
            Read(pair, KeyOrder.Uniform, (peer.IsJitted ? options.Warmup : options.Warmup / 10) / 2);
            foreach (KeyOrder order in (KeyOrder[])[KeyOrder.Uniform, KeyOrder.Zipf])
                foreach (double rate in Rates) Measure(pair, order, rate, report, options);
        }
        report.Line("");
    }

    private static void Measure(LinkedPair pair, KeyOrder order, double rate, Report report, CompareOptions options)
    {
        using BackgroundLoad? load = rate == 0 ? null : new BackgroundLoad(
            new Workload("set", (int)(rate / 2000), Cell.ValueBytes, new KeyStream(Keys, order), check: false),
            new GeneratorSettings { Server = pair.Primary.Server, Connections = WriterConnections, Rate = rate, SleepMs = 1 });
        Read(pair, order, options.CellSeconds);
        load?.Take();
        List<Measured> runs = [];
        Waits before = Waits.Of(pair.Replica);
        for (int round = 0; round < options.Rounds; round++) runs.Add(Read(pair, order, options.CellSeconds));
        Waits waits = Waits.Of(pair.Replica).Since(before);
        double reached = load is null ? 0 : load.Take().Select(static turn => turn.OpsPerSecond).DefaultIfEmpty(0).Average(), reads = runs.Sum(static run => run.Replies);
        string Us(Func<Measured, long> pick) => Statistics.Text(Statistics.Median(runs.Select(run => pick(run) / 1e3)), "F0");
        string Share(long count) => pair.Name == "ours" ? Statistics.Text(100 * count / reads, "F3") + " %" : "";
        report.Row([
            pair.Name, order.ToString().ToLowerInvariant(), Statistics.Text(rate, "N0"), Statistics.Text(reached, "N0"), Us(static m => m.P50), Us(static m => m.P99), Us(static m => m.P999),
            Statistics.Text(runs.Max(static run => run.Max) / 1e3, "F0"), Share(waits.Waited), Share(waits.Retried), pair.Name == "ours" ? Statistics.Text(waits.GateUs / runs.Sum(static run => run.Seconds), "F0") : ""]);
    }

    private static Measured Read(LinkedPair pair, KeyOrder order, double seconds) =>
        ReplicaSet.Load(pair.Replica, new Workload("get", 1, Cell.ValueBytes, new KeyStream(Keys, order), check: false), new GeneratorSettings
        {
            Server = pair.Replica.Server, Connections = Connections, Seconds = seconds, WarmupSeconds = 0.05, Rate = ReadRate, Opening = pair.Opening,
        });
}

/// <summary>What our server says of the reads that could not be answered at once.</summary>
internal sealed record Waits(long Waited, long Retried, long GateUs)
{
    public static Waits Of(RunningPeer replica) => replica.Peer.System != "ours" ? new(0, 0, 0)
        : new(Number(replica, "garnet_repl_read_waits"), Number(replica, "garnet_repl_read_retries"), Number(replica, "garnet_repl_gate_us"));

    public Waits Since(Waits before) => new(Waited - before.Waited, Retried - before.Retried, GateUs - before.GateUs);

    private static long Number(RunningPeer replica, string name) => long.Parse(replica.Field("replication", name), CultureInfo.InvariantCulture);
}
