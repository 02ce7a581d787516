using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare;

/// <summary>What a snapshot of a large store does to those who write meanwhile.</summary>
internal static class SnapshotLoads
{
    private const int Connections = 16, AloneWindows = 10;
    private const double WindowSeconds = 0.5;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"{options.BigKeys:N0} keys of 16 + {Cell.ValueBytes} bytes, SET p1 c{Connections} over all of them; medians over windows of {WindowSeconds} s, latency in us.");
        report.Line("");
        report.Head("system", "alone: ops/s", "p50", "p99", "p99.9", "during BGSAVE: ops/s", "p50", "p99", "p99.9", "max", "BGSAVE s", "fork or cut us", "RSS MiB before / most during");
        foreach (Peer peer in peers)
        {
            peer.Clear();
            using RunningPeer running = RunningPeer.Start(peer, options.ServerCore);
            if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
            RunVerb.Fill(running.Server, options.BigKeys, Cell.ValueBytes, check: true);
            Workload workload = new("set", 1, Cell.ValueBytes, new KeyStream(options.BigKeys, KeyOrder.Uniform), check: false);
            using Generator generator = new(workload, new GeneratorSettings { Server = running.Server, Connections = Connections, Seconds = WindowSeconds });
            for (int i = 0; i < options.Warmup / WindowSeconds; i++) generator.Run();
            List<Measured> alone = [.. Enumerable.Range(0, AloneWindows).Select(_ => generator.Run())];
            long before = ServerClock.ReadRss(running.Pid), most = before;
            List<Measured> during = [];
            running.Ask("BGSAVE");
            do
            {
                during.Add(generator.Run());
                most = Math.Max(most, ServerClock.ReadRss(running.Pid));
            }
            while (!running.Ask("INFO persistence").Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
            if (during.Count > 1) during.RemoveAt(during.Count - 1); // it ended in this one
            report.Row([peer.Name, .. Texts(alone), .. Texts(during), Statistics.Text(during.Max(static m => m.Max) / 1e3, "F0"),
                Statistics.Text(during.Count * WindowSeconds, "F1"), running.Field("stats", "latest_fork_usec"), $"{before >> 20} / {most >> 20}"]);
        }
        report.Line("");
    }

    private static string[] Texts(List<Measured> runs) =>
    [
        Statistics.Text(Statistics.Median(runs.Select(static m => m.OpsPerSecond)), "N0"),
        .. new Func<Measured, long>[] { static m => m.P50, static m => m.P99, static m => m.P999 }
            .Select(pick => Statistics.Text(Statistics.Median(runs.Select(m => pick(m) / 1e3)), "F0")),
    ];
}
