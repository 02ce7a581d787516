using System.Diagnostics;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>
/// How soon a replica shows what its primary has acknowledged: A and then B are written, and a client of the replica asks for B, and
/// for A once it sees B, which must be there. Time from B's acknowledgement to the reply that shows it; without and with another writer.
/// </summary>
internal static class Visibility
{
    private const int Times = 2000, WarmTimes = 3000;
    private static readonly double[] Rates = [0, 20_000, 200_000];

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Line($"From the acknowledgement of a write on the primary to the first reply of the replica that shows it, us, over {Times:N0} writes one after the other; a read that saw it later than an earlier write is counted as wrong.");
        report.Line("");
        report.Head("system", "other writes/s", "p50", "p99", "p99.9", "max", "wrong");
        foreach (Peer peer in peers)
        {
            using LinkedPair pair = LinkedPair.Start(peer, options);
            foreach (double rate in Rates) Measure(pair, rate, report, options);
        }
        report.Line("");
    }

    private static void Measure(LinkedPair pair, double rate, Report report, CompareOptions options)
    {
        if (options.GeneratorCore >= 0) Machine.Cores.PinThread(options.GeneratorCore);
        using BackgroundLoad? load = rate == 0 ? null : new BackgroundLoad(
            new Workload("set", Math.Max(1, (int)(rate / 1000)), Cell.ValueBytes, new KeyStream(100_000, KeyOrder.Uniform), check: false),
            new GeneratorSettings { Server = pair.Primary.Server, Connections = 2, Rate = rate, SleepMs = 1 });
        using Probe writer = new(pair.Primary.Server), reader = new(pair.Replica.Server, pair.Opening);
        Latencies seen = new();
        int wrong = 0;
        for (int i = -WarmTimes; i < Times; i++)
        {
            (long ns, bool isWrong) = Once(writer, reader, i);
            if (i < 0) continue;
            seen.Add(ns);
            if (isWrong) wrong++;
        }
        string Us(long ns) => Statistics.Text(ns / 1e3, "N0");
        report.Row([pair.Name, Statistics.Text(rate, "N0"), Us(seen.At(0.5)), Us(seen.At(0.99)), Us(seen.At(0.999)), Us(seen.Max), Statistics.Text(wrong, "F0")]);
    }

    private static (long Ns, bool IsWrong) Once(Probe writer, Probe reader, int i)
    {
        string value = $"v{i}";
        byte[] first = Probe.Request("SET seen:a " + value), second = Probe.Request("SET seen:b " + value), question = Probe.Request("GET seen:b");
        writer.Call(first);
        writer.Call(second);
        long from = Stopwatch.GetTimestamp();
        while (reader.Call(question) != value)
        {
            // asked again at once
        }
        long ns = (long)Stopwatch.GetElapsedTime(from).TotalNanoseconds;
        return (ns, reader.Call("GET seen:a") != value);
    }
}
