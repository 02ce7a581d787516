using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>
/// The price of a read on a replica: the same reads on a primary and on its replica in turn, while a writer goes on at a fixed rate.
/// Both servers share a core, so the background is the same for both and the ratio of the rates tells the price of all that a read does;
/// the processor time per read is that of the server read from, less what it uses when only the writer is there.
/// </summary>
internal static class ReplicaReads
{
    private const int WriterConnections = 2, WriterPipeline = 20;
    private const double WarmupSeconds = 0.05;
    private static readonly Cell[] Cells = [new("get", 100, 16, 1000), new("mget100", 1, 16, 1000), new("get", 1, 64, 1000)];
    private static readonly double[] Rates = [0, 20_000];

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line("Reads on a primary and on its replica, both on one core; server CPU ns per reply without what the writer costs (thousand replies/s), medians; ratios replica : primary, medians of paired rounds [min-max]. NaN: not one reply came.");
        report.Line("");
        report.Head("system", "cell", "writes/s", "primary", "replica", "CPU per reply", "primary's rate : replica's");
        foreach (Peer peer in peers)
        {
            using LinkedPair pair = LinkedPair.Start(peer, options);
            if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
            RunVerb.Fill(pair.Primary.Server, Cells[0].Keys, Cell.ValueBytes, check: true);
            pair.AwaitSame();
            foreach (double rate in Rates)
            {
                using BackgroundLoad? writer = Writer(pair, rate);
                double warmup = (peer.IsJitted ? options.Warmup : options.Warmup / 10) / Cells.Length / Rates.Length / 2;
                // A node of a cluster refuses keys of several slots in one command.
                foreach (Cell cell in Cells.Where(cell => !pair.IsCluster || cell.Operation == "get")) Compare(options, report, new Case(pair, cell, rate, warmup));
            }
        }
        report.Line("");
    }

    private static BackgroundLoad? Writer(LinkedPair pair, double rate) => rate == 0 ? null : new BackgroundLoad(
        new Workload("set", WriterPipeline, Cell.ValueBytes, new KeyStream(Cells[0].Keys, KeyOrder.Uniform), check: false),
        new GeneratorSettings { Server = pair.Primary.Server, Connections = WriterConnections, Rate = rate, SleepMs = 1 });

    private static void Compare(CompareOptions options, Report report, Case one)
    {
        List<(double Ns, double Rate)> primary = [], replica = [];
        Read(one, one.Pair.Primary, "", one.WarmupSeconds);
        Read(one, one.Pair.Replica, one.Pair.Opening, one.WarmupSeconds);
        for (int round = 0; round < options.Rounds; round++)
        {
            double primaryAlone = Alone(one, one.Pair.Primary, options.CellSeconds), replicaAlone = Alone(one, one.Pair.Replica, options.CellSeconds);
            primary.Add(Net(Read(one, one.Pair.Primary, "", options.CellSeconds), primaryAlone));
            replica.Add(Net(Read(one, one.Pair.Replica, one.Pair.Opening, options.CellSeconds), replicaAlone));
        }
        report.Row([
            one.Pair.Name, one.Cell.Name, Statistics.Text(one.Rate, "N0"), Text(primary), Text(replica),
            Statistics.Spread([.. replica.Zip(primary, static (r, p) => r.Ns / p.Ns)], "F2"),
            Statistics.Spread([.. primary.Zip(replica, static (p, r) => p.Rate / r.Rate)], "F2")]);
    }

    private static Measured Read(Case one, RunningPeer server, string opening, double seconds)
    {
        Workload workload = new(one.Cell.Operation, one.Cell.Pipeline, Cell.ValueBytes, new KeyStream(one.Cell.Keys, KeyOrder.Uniform), check: false);
        return ReplicaSet.Load(server, workload, new GeneratorSettings
        {
            Server = server.Server, Connections = one.Cell.Connections, WarmupSeconds = WarmupSeconds, Seconds = seconds, ServerPid = server.Pid, Opening = opening,
        });
    }

    // Nanoseconds of processor time per second that the server uses when nobody reads.
    private static double Alone(Case one, RunningPeer server, double seconds)
    {
        if (one.Rate == 0) return 0;
        long before = ServerClock.ReadNs(server.Pid), from = System.Diagnostics.Stopwatch.GetTimestamp();
        Thread.Sleep(TimeSpan.FromSeconds(seconds / 2));
        return (ServerClock.ReadNs(server.Pid) - before) / System.Diagnostics.Stopwatch.GetElapsedTime(from).TotalSeconds;
    }

    private static (double Ns, double Rate) Net(Measured read, double aloneNs) => read.Replies == 0 ? (double.NaN, double.NaN) : (read.ServerNs - aloneNs / read.OpsPerSecond, read.OpsPerSecond);

    private static string Text(List<(double Ns, double Rate)> runs) =>
        $"{Statistics.Text(Statistics.Median(runs.Select(static run => run.Ns)), "F0")} ({Statistics.Text(Statistics.Median(runs.Select(static run => run.Rate)) / 1e3, "F0")})";

    private sealed record Case(LinkedPair Pair, Cell Cell, double Rate, double WarmupSeconds);
}
