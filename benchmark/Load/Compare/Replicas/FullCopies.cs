using System.Diagnostics;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>How fast a new replica gets everything while clients write at half of what the primary can do, and what they notice.</summary>
internal static class FullCopies
{
    private const int Connections = 16;
    private const double ProbeSeconds = 1;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"A primary with {options.BigKeys:N0} keys of 16 + {Cell.ValueBytes} bytes gets a replica while SETs (p1 c{Connections}, open loop) come at half of its full rate; latency of the SETs in us, medians over windows of 0.1 s.");
        report.Line("");
        report.Head("system", "SETs/s", "copy s", "MB of keys and values per s", "p50 / p99 / p99.9 before", "during", "longest");
        foreach (Peer peer in peers)
        {
            using LinkedPair pair = LinkedPair.StartApart(peer, options, peer.System == "redis" ? "--repl-diskless-sync-delay 0" : "");
            RunVerb.Fill(pair.Primary.Server, options.BigKeys, Cell.ValueBytes, check: true);
            Workload workload = new("set", 1, Cell.ValueBytes, new KeyStream(options.BigKeys, KeyOrder.Uniform), check: false);
            GeneratorSettings settings = new() { Server = pair.Primary.Server, Connections = Connections, Seconds = ProbeSeconds };
            ReplicaSet.Load(pair.Primary, workload, settings with { Seconds = peer.IsJitted ? options.Warmup / 4 : ProbeSeconds });
            double rate = ReplicaSet.Load(pair.Primary, workload, settings).OpsPerSecond / 2;
            using BackgroundLoad load = new(workload, settings with { Rate = rate, SleepMs = 1 });
            Thread.Sleep(TimeSpan.FromSeconds(2 * ProbeSeconds));
            List<Measured> before = load.Take();
            long from = Stopwatch.GetTimestamp();
            pair.Link();
            double seconds = Stopwatch.GetElapsedTime(from).TotalSeconds;
            List<Measured> during = load.Take();
            report.Row([
                pair.Name, Statistics.Text(rate, "N0"), Statistics.Text(seconds, "F2"), Statistics.Text(options.BigKeys * (16 + Cell.ValueBytes) / seconds / 1e6, "F0"),
                Text(before), Text(during), Statistics.Text(during.Select(static turn => turn.Max).DefaultIfEmpty(0).Max() / 1e3, "F0")]);
        }
        report.Line("");
    }

    private static string Text(List<Measured> turns) => string.Join(" / ", new Func<Measured, long>[] { static m => m.P50, static m => m.P99, static m => m.P999 }
        .Select(pick => Statistics.Text(Statistics.Median(turns.Select(turn => pick(turn) / 1e3)), "F0")));
}
