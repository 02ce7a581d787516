using System.Diagnostics;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare;

/// <summary>How fast a killed server is back: from its log alone, and from a snapshot. The servers may use every core.</summary>
internal static class Recoveries
{
    private const int Unpinned = -1, SettleMs = 2_000;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"{options.BigKeys:N0} keys of 16 + {Cell.ValueBytes} bytes, each written once; killed, and started again until the first GET is answered.");
        report.Line("");
        report.Head("system", "from the log s", "log MiB", "MiB/s", "from the snapshot s", "directory MiB then", "thousand keys/s");
        foreach (Peer peer in peers)
        {
            peer.Clear();
            using (RunningPeer running = RunningPeer.Start(peer, Unpinned))
            {
                RunVerb.Fill(running.Server, options.BigKeys, Cell.ValueBytes, check: true);
                Thread.Sleep(SettleMs); // everysec
            }
            double logMiB = MiB(peer), fromLog = 0, fromSnapshot = 0;
            double[] times = [.. Enumerable.Range(0, options.Rounds).Select(_ => TimedStart(peer, false))];
            fromLog = Statistics.Median(times);
            TimedStart(peer, rewrite: true);
            double snapshotMiB = MiB(peer);
            times = [.. Enumerable.Range(0, options.Rounds).Select(_ => TimedStart(peer, false))];
            fromSnapshot = Statistics.Median(times);
            report.Row([peer.Name, Statistics.Text(fromLog, "F2"), Statistics.Text(logMiB, "F0"), Statistics.Text(logMiB / fromLog, "F0"),
                Statistics.Text(fromSnapshot, "F2"), Statistics.Text(snapshotMiB, "F0"), Statistics.Text(options.BigKeys / fromSnapshot / 1e3, "F0")]);
        }
        report.Line("");
    }

    // Seconds from the start of the process to the first answered GET; then the server is killed again.
    private static double TimedStart(Peer peer, bool rewrite)
    {
        using RunningPeer running = RunningPeer.Start(peer, Unpinned, awaitsPong: false);
        while (!running.Ask("GET 1").StartsWith('$')) Thread.Yield();
        double seconds = Stopwatch.GetElapsedTime(running.StartedAt).TotalSeconds;
        if (!rewrite) return seconds;
        running.Ask("BGREWRITEAOF");
        Thread.Sleep(SettleMs);
        while (!running.Ask("INFO persistence").Contains("aof_rewrite_in_progress:0", StringComparison.Ordinal)) Thread.Sleep(SettleMs / 10);
        Thread.Sleep(SettleMs);
        return seconds;
    }

    private static double MiB(Peer peer)
    {
        string[] words = Shell.Read("du", $"-sk {peer.Directory}").Split('\t');
        return double.Parse(words[0], System.Globalization.CultureInfo.InvariantCulture) / 1024;
    }
}
