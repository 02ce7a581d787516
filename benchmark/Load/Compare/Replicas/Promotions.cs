using System.Diagnostics;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>How long nobody takes writes when a primary is killed under load and its replica is told to lead by hand.</summary>
internal static class Promotions
{
    private const int LoadConnections = 4, WritesBefore = 2000;
    private const double LoadRate = 20_000;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"From the last write that a killed primary acknowledged to the first that its replica took after REPLICAOF NO ONE, ms; {LoadRate:N0} writes/s beside it, a new pair for each of {options.Rounds} rounds.");
        report.Line("");
        report.Head("system", "ms", "of which from the command on", "acknowledged writes missing");
        foreach (Peer peer in peers)
        {
            if (peer.System == "garnet-p2") continue; // its replicas are promoted by CLUSTER FAILOVER, which is another matter
            List<(double All, double Command, bool Missing)> rounds = [];
            for (int round = 0; round < options.Rounds; round++)
            {
                using LinkedPair pair = LinkedPair.Start(peer, options);
                rounds.Add(Once(pair));
            }
            report.Row([
                peer.Name, Statistics.Spread([.. rounds.Select(static r => r.All)], "F1"), Statistics.Spread([.. rounds.Select(static r => r.Command)], "F1"),
                $"the last one in {rounds.Count(static r => r.Missing)} of {rounds.Count}"]);
        }
        report.Line("");
    }

    private static (double All, double Command, bool Missing) Once(LinkedPair pair)
    {
        using BackgroundLoad load = new(
            new Workload("set", 10, Cell.ValueBytes, new KeyStream(100_000, KeyOrder.Uniform), check: false),
            new GeneratorSettings { Server = pair.Primary.Server, Connections = LoadConnections, Rate = LoadRate, SleepMs = 1 });
        using Probe writer = new(pair.Primary.Server), next = new(pair.Replica.Server);
        int number = 0;
        while (number < WritesBefore) writer.Call($"SET last {++number}");
        load.Forgive();
        long acknowledged = Stopwatch.GetTimestamp();
        pair.Primary.Kill();
        try
        {
            while (writer.Call($"SET last {number + 1}") == "+OK")
            {
                number++;
                acknowledged = Stopwatch.GetTimestamp();
            }
        }
        catch (Exception e) when (e is IOException or System.Net.Sockets.SocketException)
        {
            // it is gone
        }
        long told = Stopwatch.GetTimestamp();
        next.Call("REPLICAOF NO ONE");
        string last = next.Call("GET last") ?? "";
        while (next.Call("SET first 1") != "+OK") Thread.Yield();
        long accepted = Stopwatch.GetTimestamp();
        bool isMissing = !int.TryParse(last, out int seen) || seen < number;
        return (Ms(accepted - acknowledged), Ms(accepted - told), isMissing);
    }

    private static double Ms(long ticks) => ticks * 1e3 / Stopwatch.Frequency;
}
