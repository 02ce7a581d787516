using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Movers;

/// <summary>
/// The set <c>movers</c>: what it is worth that room is made ahead of need. A full cache in this process, once with the store's own thread and once with
/// nobody but the writer to make room, at the same rate: six tenths of what the latter can do at most.
/// </summary>
internal static class MoverSet
{
    private const long Keys = 8_000_000, MemoryBytes = 512L << 20;
    private const int Seed = 20_261_125;
    private const double RateShare = 0.6, SaturateSeconds = 5, WarmSeconds = 5, Seconds = 20;
    private static readonly double[] s_shares = [0.5, 0.9, 0.99, 0.999, 0.9999];

    public static void Run(CompareOptions options, Report report)
    {
        double rate = Rate(options);
        report.Line($"{Keys:N0} keys of 16 and on average 350 bytes in {MemoryBytes >> 20} MiB, allkeys-lru; a GET, and a SET where it finds nothing; {rate:N0} operations a second, {Seconds:F0} s a round; us from when an operation was due, median of {options.Rounds} rounds.");
        report.Line("");
        report.Head("", "hits %", "SET p50", "p90", "p99", "p99.9", "p99.99", "GET p50", "p90", "p99", "p99.9", "p99.99");
        List<double[]> onDemand = [], ahead = [];
        for (int round = 0; round < options.Rounds; round++)
        {
            Console.Error.WriteLine($"round {round + 1}");
            onDemand.Add(Measure(options, isAhead: false, rate));
            ahead.Add(Measure(options, isAhead: true, rate));
        }
        double[] before = Medians(onDemand), after = Medians(ahead);
        report.Row(["on demand", .. before.Select(static x => Statistics.Text(x, "F2"))]);
        report.Row(["ahead", .. after.Select(static x => Statistics.Text(x, "F2"))]);
        report.Row(["less by %", "", .. before.Zip(after).Skip(1).Select(static pair => Statistics.Text(100 * (1 - (pair.Second / pair.First)), "F0"))]);
        report.Line("");
    }

    private static double Rate(CompareOptions options)
    {
        using CacheRun run = Open(options, isAhead: false);
        return Math.Floor(RateShare * run.Saturate(SaturateSeconds));
    }

    private static double[] Measure(CompareOptions options, bool isAhead, double rate)
    {
        using CacheRun run = Open(options, isAhead);
        run.Run(rate, WarmSeconds);
        run.Gets.Clear();
        run.Sets.Clear();
        run.Run(rate, Seconds);
        return [run.HitShare * 100, .. Shares(run.Sets), .. Shares(run.Gets)];
    }

    // The generator's thread is pinned only once the store has started its own.
    private static CacheRun Open(CompareOptions options, bool isAhead)
    {
        CacheRun run = new(MemoryBytes, new CacheProfile(Keys, Seed), isAhead, options.ServerCore);
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        run.Fill();
        return run;
    }

    private static IEnumerable<double> Shares(Latencies latencies) => s_shares.Select(share => latencies.At(share) / 1e3);

    private static double[] Medians(List<double[]> rounds) => [.. Enumerable.Range(0, rounds[0].Length).Select(i => Statistics.Median(rounds.Select(round => round[i])))];
}
