using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>Ten times the memory in strings of 256 to 1,024 bytes, nine of ten operations reads, by a zipf law: where the reads are answered from.</summary>
internal static class LargerThanMemory
{
    private const int Connections = 16, Pipeline = 16, Times = 10, BytesPerKey = 640 + 32;
    private static readonly int[] Sizes = [256, 512, 768, 1024];

    public static long KeysOf(CompareOptions options) => options.MemoryMiB * Times * (1 << 20) / BytesPerKey;

    public static void Fill(TierServer server, long keys) => Fill(server, keys, Sizes);

    public static void Fill(TierServer server, long keys, int[] sizes)
    {
        const int FillPipeline = 100, FillConnections = 8;
        Workload workload = new("set", FillPipeline, sizes, new KeyStream(keys, KeyOrder.Sequence), check: false);
        GeneratorSettings settings = new() { Server = server.Running.Server, Connections = FillConnections, BatchesMax = (keys + FillPipeline - 1) / FillPipeline };
        using Generator generator = new(workload, settings);
        Measured filled = generator.Run();
        if (filled.Errors > 0) throw new InvalidDataException($"{server.Running.Peer.Name} refused {filled.Errors} writes: {filled.FirstError}");
        server.Settle();
    }

    public static void Run(CompareOptions options, Report report)
    {
        long memory = options.MemoryMiB << 20, keys = KeysOf(options);
        KeyStream stream = new(keys, KeyOrder.Zipf);
        report.Line($"{keys:N0} strings of 256 to 1,024 bytes in {options.MemoryMiB} MiB, zipf 0.99, nine of ten GET, p{Pipeline} c{Connections}; {options.Warmup} s before the first of {options.Rounds} rounds of {options.CellSeconds} s; medians.");
        report.Line("");
        report.Head("system", "ops/s", "server CPU ns/op", "p50 us", "p99 us", "p99.9 us", "reads from memory", "of an exact LFU", "that knows what comes", "RSS MiB");
        List<double> rates = [];
        foreach (Peer peer in new[] { TierServer.Ours(options, memory, hasTier: true), TierServer.Theirs(memory) })
        {
            if (!File.Exists(peer.Program)) continue; // benchmark/run.sh could not install it
            using TierServer server = TierServer.Start(options, peer, memory);
            Fill(server, keys);
            Workload workload = new("mix90", Pipeline, Sizes, stream, check: false);
            using Generator generator = new(workload, new GeneratorSettings
            {
                Server = server.Running.Server, Connections = Connections, WarmupSeconds = options.Warmup, Seconds = options.CellSeconds, ServerPid = server.Running.Pid,
            });
            List<Measured> runs = [];
            long memoryHits = 0, tierHits = 0;
            uint counted = 0;
            for (int round = 0; round <= options.Rounds; round++)
            {
                Measured run = generator.Run();
                if (round > 0) runs.Add(run);
                if (round > 0) continue;
                memoryHits = server.Figure("tier_memory_hits");
                tierHits = server.Figure("tier_hits");
                counted = stream.Drawn;
            }
            memoryHits = server.Figure("tier_memory_hits") - memoryHits;
            tierHits = server.Figure("tier_hits") - tierHits;
            bool isOurs = memoryHits > 0;
            long inMemory = isOurs ? server.Keys - server.Figure("tier_cold_records") : 0; // the other one reads all of its disk for that
            rates.Add(Statistics.Median(runs.Select(static m => m.OpsPerSecond)));
            string Us(Func<Measured, long> pick) => Statistics.Text(Statistics.Median(runs.Select(m => pick(m) / 1e3)), "F0");
            report.Row([peer.Name, Statistics.Text(rates[^1], "N0"), Statistics.Text(Statistics.Median(runs.Select(static m => m.ServerNs)), "F0"),
                Us(static m => m.P50), Us(static m => m.P99), Us(static m => m.P999),
                isOurs ? Statistics.Text((double)memoryHits / (memoryHits + tierHits), "P1") : "-",
                isOurs ? Statistics.Text(stream.ShareOfCounted(inMemory, counted), "P1") : "-", isOurs ? Statistics.Text(stream.ShareOfTop(inMemory), "P1") : "-", server.RssMiB]);
        }
        report.Line("");
        if (rates.Count > 1) report.Line($"Rate ours : theirs {Statistics.Text(rates[0] / rates[1], "F1")}");
    }
}
