using System.Diagnostics;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare;

/// <summary>Start to first PONG, memory then, and how long a fresh server takes to reach 0.9 of its full speed.</summary>
internal static class Starts
{
    private const int StartsMin = 5;
    private const double WindowSeconds = 0.05;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        using (RunningPeer.Start(peers[0], options.ServerCore)) { }   // the first start also compiles this program
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        Dictionary<Peer, List<(double Ms, long Rss)>> starts = peers.ToDictionary(p => p, _ => new List<(double, long)>());
        for (int round = 0; round < Math.Max(StartsMin, options.Rounds); round++)
        {
            foreach (Peer peer in peers)
            {
                using RunningPeer running = RunningPeer.Start(peer, options.ServerCore);
                starts[peer].Add((running.StartMs, running.StartRss));
            }
        }
        report.Head("system", "start to PONG ms", "RSS then MiB", "0.9 of full speed after s", "full speed, thousand ops/s (GET p16 c16)");
        foreach (Peer peer in peers)
        {
            (double seconds, double kops) = SpeedUp(peer, options);
            report.Row([
                peer.Name,
                Statistics.Spread([.. starts[peer].Select(s => s.Ms)], "F0"),
                Statistics.Spread([.. starts[peer].Select(s => s.Rss / 1048576.0)], "F1"),
                Statistics.Text(seconds, "F2"),
                Statistics.Text(kops, "F0")]);
        }
        report.Line("");
    }

    private static (double Seconds, double Kops) SpeedUp(Peer peer, CompareOptions options)
    {
        using RunningPeer running = RunningPeer.Start(peer, options.ServerCore);
        RunVerb.Fill(running.Server, 1000, Cell.ValueBytes, check: false);
        Workload workload = new("get", 16, Cell.ValueBytes, new KeyStream(1000, KeyOrder.Uniform), check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = running.Server, Connections = 16, Seconds = WindowSeconds });
        double watched = peer.IsJitted ? options.Warmup : options.Warmup / 10;
        List<(double At, double Rate)> windows = [];
        while (windows.Count == 0 || windows[^1].At < watched)
        {
            double rate = generator.Run().OpsPerSecond;
            windows.Add((Stopwatch.GetElapsedTime(running.StartedAt).TotalSeconds, rate));
        }
        double full = Statistics.Median(windows.TakeLast(20).Select(w => w.Rate));
        return (windows.First(w => w.Rate >= 0.9 * full).At, full / 1e3);
    }
}
