using System.Globalization;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>
/// Keys overwritten at random and a constant rate, as many as a small tier holds to four fifths: what is given up, what is written, what is kept for snapshots. Counts, so
/// that a busy machine matters little. With a data directory snapshots name what lies on the tier, and it is free only after the next two.
/// </summary>
internal static class Churn
{
    private const int Connections = 16, ValueBytes = 700;
    // Of each byte of memory: keys, room on the tier, and writes a second.
    private const double KeysPerByte = 300_000.0 / (48 << 20), TierPerByte = 212.0 / 48, RatePerByte = 3000.0 / (48 << 20);
    private const int RecordBytes = 736; // of a key on the tier

    public static void Kept(CompareOptions options, Report report) => Run(options, report, isKept: true, times: 1);

    public static void KeptFast(CompareOptions options, Report report) => Run(options, report, isKept: true, times: 4);

    public static void Scratch(CompareOptions options, Report report) => Run(options, report, isKept: false, times: 1);

    /// <summary>A server with a small tier, full, where the policy allows to evict.</summary>
    public static Peer Small(CompareOptions options, bool isKept)
    {
        long memory = options.MemoryMiB << 20;
        string keeping = isKept ? "--dir {1} --appendonly yes" : "--appendonly no";
        return new Peer(isKept ? "ours+kept" : "ours+scratch", "artifacts/bin/GarnetServer/release/garnet-server",
            $"--port {{0}} --bind 127.0.0.1 --save \"\" {keeping} --maxmemory {memory} --maxmemory-policy allkeys-lru --tier-path {{1}} --tier-size {(long)(memory * TierPerByte)} {options.OursFlags}".TrimEnd());
    }

    public static long KeysOf(CompareOptions options) => (long)((options.MemoryMiB << 20) * KeysPerByte);

    /// <summary>Writes each key once.</summary>
    public static void Fill(TierServer server, long keys)
    {
        const int FillPipeline = 20;
        Workload fill = new("set", FillPipeline, ValueBytes, new KeyStream(keys, KeyOrder.Sequence), check: false);
        using Generator filler = new(fill, new GeneratorSettings { Server = server.Running.Server, Connections = 8, BatchesMax = keys / FillPipeline });
        filler.Run();
        server.Settle();
    }

    public static long Evicted(TierServer server) =>
        long.TryParse(server.Running.Field("stats", "evicted_keys"), NumberStyles.None, CultureInfo.InvariantCulture, out long count) ? count : 0;

    private static void Run(CompareOptions options, Report report, bool isKept, int times)
    {
        double rate = (options.MemoryMiB << 20) * RatePerByte * times;
        long keys = KeysOf(options), writes = keys / 2;
        Peer peer = Small(options, isKept);
        using TierServer server = TierServer.StartAlone(options, peer);
        report.Line($"{keys:N0} keys of {ValueBytes} bytes written once, then at random at {rate:N0} a second: {writes:N0} counted after {options.Warmup} s; {options.MemoryMiB} MiB, `{peer.FlagsShown}`.");
        report.Line("");
        Fill(server, keys);
        Workload overwrites = new("set", 1, ValueBytes, new KeyStream(keys, KeyOrder.Uniform), check: false);
        GeneratorSettings settings = new()
        {
            Server = server.Running.Server, Connections = Connections, Rate = rate, SleepMs = 1, WarmupSeconds = options.Warmup, Seconds = writes / rate,
        };
        using (Generator warm = new(overwrites, settings with { WarmupSeconds = 0, Seconds = Math.Max(options.Warmup, 0.1) })) warm.Run();
        string[] names = ["tier_written_bytes", "tier_demoted_bytes", "tier_evicted_records"];
        long[] before = [.. names.Select(server.Figure), Evicted(server), Saves(server)];
        using Generator generator = new(overwrites, settings with { WarmupSeconds = 0 });
        Measured run = generator.Run();
        long[] after = [.. names.Select(server.Figure), Evicted(server), Saves(server)];
        long[] more = [.. after.Zip(before, static (now, then) => now - then)];
        double size = server.Figure("tier_size_bytes");
        report.Head("", "writes a second", "cold at the end, of the tier", "written : moved to the tier", "evicted", "of them on the tier", "free, kept for snapshots", "snapshots", "refused");
        report.Row([isKept ? "data directory" : "none", Statistics.Text(run.OpsPerSecond, "N0"),
            Statistics.Text(server.Figure("tier_cold_records") * RecordBytes / size, "P0"), Statistics.Text((double)more[0] / Math.Max(1, more[1]), "F2"),
            Statistics.Text(more[3], "N0"), Statistics.Text(more[2], "N0"),
            $"{Statistics.Text(server.Figure("tier_free_bytes") / size, "P0")}, {Statistics.Text(server.Figure("tier_kept_bytes") / size, "P0")}",
            Statistics.Text(more[4], "N0"), Statistics.Text(run.Errors, "N0")]);
    }

    public static long Saves(TierServer server) =>
        long.TryParse(server.Running.Field("persistence", "rdb_saves"), NumberStyles.None, CultureInfo.InvariantCulture, out long count) ? count : 0;
}
