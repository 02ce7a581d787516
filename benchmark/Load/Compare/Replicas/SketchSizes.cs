using System.Globalization;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>
/// How large the announcements of a replica must be. Readers ask for keys that nobody writes, so every read that waits or begins anew
/// does it because its key shares a place with another.
/// </summary>
internal static class SketchSizes
{
    private const long Keys = 100_000;
    private const double WriteRate = 200_000;
    private static readonly int[] Bits = [12, 14, 15, 16, 17, 18];

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"GET p16 c16 of {Keys:N0} keys on a replica, while {WriteRate:N0} records/s of {Keys:N0} other keys are applied: reads that wait or begin anew for nothing.");
        report.Line("");
        report.Head("places", "KiB", "reads/s", "writes/s reached", "waited", "began anew");
        foreach (int bits in Bits)
        {
            using LinkedPair pair = LinkedPair.Start(peers.First(static peer => peer.System == "ours"), options, replicaFlags: string.Create(CultureInfo.InvariantCulture, $"--replica-sketch-bits {bits}"));
            RunVerb.Fill(pair.Primary.Server, Keys, Cell.ValueBytes, check: false);
            pair.AwaitSame();
            using BackgroundLoad load = new(
                new Workload("SET other:# %", 100, Cell.ValueBytes, new KeyStream(Keys, KeyOrder.Uniform), check: false),
                new GeneratorSettings { Server = pair.Primary.Server, Connections = 2, Rate = WriteRate, SleepMs = 1 });
            Read(pair, 2);
            load.Take();
            Waits before = Waits.Of(pair.Replica);
            Measured read = Read(pair, options.CellSeconds * options.Rounds);
            Waits waits = Waits.Of(pair.Replica).Since(before);
            double reached = load.Take().Select(static turn => turn.OpsPerSecond).DefaultIfEmpty(0).Average();
            string Share(long count) => Statistics.Text(100.0 * count / read.Replies, "F3") + " %";
            report.Row([
                Statistics.Text(1 << bits, "N0"), Statistics.Text((1 << bits) / 128.0, "N0"), Statistics.Text(read.OpsPerSecond, "N0"), Statistics.Text(reached, "N0"), Share(waits.Waited), Share(waits.Retried)]);
        }
        report.Line("");
    }

    private static Measured Read(LinkedPair pair, double seconds) =>
        ReplicaSet.Load(pair.Replica, new Workload("get", 16, Cell.ValueBytes, new KeyStream(Keys, KeyOrder.Uniform), check: false), new GeneratorSettings { Server = pair.Replica.Server, Connections = 16, Seconds = seconds });
}
