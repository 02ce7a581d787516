using System.Globalization;
using System.IO.Compression;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Load.Compare.Tiers;

/// <summary>
/// Requests of a chat service, each a list of blocks of a key-value cache, at 1/64 of their size: a block that is there is read, another is written.
/// What counts is how many of the reads of blocks that are there memory answers.
/// </summary>
internal static class TraceReplay
{
    private const int BlockBytes = (1 << 20) / 64, RecordBytes = BlockBytes + 4096; // in whole pages
    private static readonly double[] Shares = [0.05, 0.1, 0.2];

    public static void Run(CompareOptions options, Report report)
    {
        if (options.Trace.Length == 0)
        {
            report.Line("No trace was given (--trace).");
            return;
        }
        List<int[]> requests = Read(options.Trace);
        int blocks = requests.Max(static request => request.Max()) + 1;
        report.Line($"{requests.Count:N0} requests, {requests.Sum(static request => request.Length):N0} accesses to {blocks:N0} blocks of {BlockBytes:N0} bytes, from {Path.GetFileName(options.Trace)}; one connection.");
        report.Line("");
        report.Head("memory for", "promotion", "reads of blocks that are there", "answered from memory", "reads of the disk", "came back", "s");
        foreach (double share in Shares)
        {
            foreach (bool promotes in (bool[])[true, false])
                Play(options, report, requests, (long)(blocks * share), promotes);
        }
    }

    private static void Play(CompareOptions options, Report report, List<int[]> requests, long fitting, bool promotes)
    {
        // what moving keeps free at the least, and the index, come on top
        long memory = (fitting * RecordBytes * 17 / 16) + (16L << 20);
        using TierServer server = TierServer.Start(options, TierServer.Ours(options, memory, hasTier: true, $"--tier-promotion {(promotes ? "yes" : "no")}"), memory);
        using BlockClient client = new(server.Running, BlockBytes);
        System.Diagnostics.Stopwatch watch = System.Diagnostics.Stopwatch.StartNew();
        foreach (int[] request in requests) client.Use(request);
        double seconds = watch.Elapsed.TotalSeconds;
        long memoryHits = server.Figure("tier_memory_hits"), tierHits = server.Figure("tier_hits");
        report.Row([$"{fitting:N0} blocks ({server.Keys - server.Figure("tier_cold_records"):N0} at the end)", promotes ? "on" : "off", Statistics.Text(client.Found, "N0"),
            Statistics.Text(memoryHits / (double)(memoryHits + tierHits), "P1"), Statistics.Text(server.Figure("tier_reads"), "N0"), Statistics.Text(server.Figure("tier_promoted_records"), "N0"), Statistics.Text(seconds, "F0")]);
    }

    private static List<int[]> Read(string path)
    {
        using StreamReader reader = new(new GZipStream(File.OpenRead(path), CompressionMode.Decompress), Encoding.ASCII);
        List<int[]> requests = [];
        while (reader.ReadLine() is { } line)
            requests.Add([.. line.Split(' ').Skip(1).Select(static word => int.Parse(word, CultureInfo.InvariantCulture))]);
        return requests;
    }
}
