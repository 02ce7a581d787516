using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>A sorted set of four times the memory: work at its hot end, beside the same set in memory.</summary>
internal static class LargeSortedSet
{
    private const int Connections = 16, Pipeline = 16, Times = 4, BytesPerMember = 48, HotMembers = 10_000;
    private static readonly string[] Operations = ["ZADD zset 9# m:#", "ZSCORE zset m:#", "ZRANGE zset -10 -1", "ZRANGE zset 0 9"];

    public static void Run(CompareOptions options, Report report)
    {
        long memory = options.MemoryMiB << 20, members = memory * Times / BytesPerMember;
        report.Line($"A sorted set of about {members:N0} members in {options.MemoryMiB} MiB, beside one in {Times * 2} times as much; the {HotMembers:N0} members that are worked at have the highest scores; p{Pipeline} c{Connections}, {options.Rounds} rounds in turns; medians of thousand ops/s.");
        report.Line("");
        using TierServer inMemory = TierServer.StartAlone(options, TierServer.Ours(options, memory * Times * 2, hasTier: false));
        Fill(inMemory, members);
        using TierServer larger = TierServer.Start(options, TierServer.Ours(options, memory, hasTier: true), memory);
        Fill(larger, members);
        report.Line($"Of the tier's {larger.Figure("tier_cold_records"):N0} records lie on the disk; used memory {larger.Running.Field("memory", "used_memory_human")} and {inMemory.Running.Field("memory", "used_memory_human")}.");
        report.Line("");
        report.Head("operation", "larger than memory", "in memory", "ratio", "reads of the disk meanwhile");
        foreach (string operation in Operations)
        {
            List<double> ratios = [], slow = [], fast = [];
            Measure(larger, operation, options.Warmup / 4);
            Measure(inMemory, operation, 1);
            long before = larger.Figure("tier_reads");
            for (int round = 0; round < options.Rounds; round++)
            {
                slow.Add(Measure(larger, operation, options.CellSeconds));
                fast.Add(Measure(inMemory, operation, options.CellSeconds));
                ratios.Add(slow[^1] / fast[^1]);
            }
            report.Row([operation, Statistics.Text(Statistics.Median(slow) / 1e3, "F0"), Statistics.Text(Statistics.Median(fast) / 1e3, "F0"), Statistics.Spread(ratios, "F2"),
                Statistics.Text(larger.Figure("tier_reads") - before, "N0")]);
        }
    }

    private static void Fill(TierServer server, long members)
    {
        Run(server, "ZADD zset # c:#", new KeyStream(members, KeyOrder.Uniform), members);
        Run(server, "ZADD zset 9# m:#", new KeyStream(HotMembers, KeyOrder.Sequence), HotMembers);
        server.Settle();
    }

    private static void Run(TierServer server, string operation, KeyStream keys, long times)
    {
        const int FillPipeline = 100;
        Workload workload = new(operation, FillPipeline, 1, keys, check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = server.Running.Server, Connections = 4, BatchesMax = times / FillPipeline });
        Measured filled = generator.Run();
        if (filled.Errors > 0) throw new InvalidDataException(filled.FirstError);
    }

    private static double Measure(TierServer server, string operation, double seconds)
    {
        Workload workload = new(operation, Pipeline, 1, new KeyStream(HotMembers, KeyOrder.Uniform), check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = server.Running.Server, Connections = Connections, Seconds = seconds });
        Measured run = generator.Run();
        if (run.Errors > 0) throw new InvalidDataException($"{operation}: {run.FirstError}");
        return run.OpsPerSecond;
    }
}
