using System.Diagnostics;
using System.Runtime.InteropServices;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;
using Garnet.Media;

namespace Garnet.Load.Compare.Tiers;

/// <summary>GETs that nearly all need the disk, beside the disk itself: a loop that reads pages of a file of the same size, as many at a time.</summary>
internal static class ColdReads
{
    private const int Connections = 16, Pipeline = 16, Depth = 64, Page = 4096;
    private static readonly int[] Sizes = [640];

    public static void Run(CompareOptions options, Report report)
    {
        long memory = options.MemoryMiB << 20, keys = LargerThanMemory.KeysOf(options);
        report.Line($"{keys:N0} strings in {options.MemoryMiB} MiB, GET of any of them, p{Pipeline} c{Connections}, beside reads of {Page} bytes, {Depth} under way; {options.Rounds} rounds in turns; medians.");
        report.Line("");
        Peer peer = TierServer.Ours(options, memory, hasTier: true, "--tier-promotion no");
        using TierServer server = TierServer.Start(options, peer, memory);
        LargerThanMemory.Fill(server, keys);
        Workload workload = new("get", Pipeline, Sizes, new KeyStream(keys, KeyOrder.Uniform), check: false);
        using Generator generator = new(workload, new GeneratorSettings { Server = server.Running.Server, Connections = Connections, Seconds = options.CellSeconds, ServerPid = server.Running.Pid });
        generator.Run();
        using FileMedium medium = FileMedium.Make(peer.Directory, keys * Sizes[0]);
        Write(medium);
        List<double> ratios = [], reads = [], alone = [];
        List<Measured> runs = [];
        for (int round = 0; round < options.Rounds; round++)
        {
            long before = server.Figure("tier_reads"), from = Stopwatch.GetTimestamp();
            runs.Add(generator.Run());
            reads.Add((server.Figure("tier_reads") - before) / Stopwatch.GetElapsedTime(from).TotalSeconds);
            alone.Add(Read(medium, options));
            ratios.Add(reads[^1] / alone[^1]);
        }
        report.Head("GET/s", "of them reads of the disk /s", "p50 us", "p99 us", "server CPU us/op", "the disk alone, reads/s", "ratio of reads");
        report.Row([Statistics.Text(Statistics.Median(runs.Select(static m => m.OpsPerSecond)), "N0"), Statistics.Text(Statistics.Median(reads), "N0"),
            Statistics.Text(Statistics.Median(runs.Select(static m => m.P50 / 1e3)), "F0"), Statistics.Text(Statistics.Median(runs.Select(static m => m.P99 / 1e3)), "F0"),
            Statistics.Text(Statistics.Median(runs.Select(static m => m.ServerNs / 1e3)), "F1"), Statistics.Text(Statistics.Median(alone), "N0"), Statistics.Spread(ratios, "F2")]);
    }

    private static unsafe void Write(FileMedium medium)
    {
        const int Step = 1 << 20;
        byte* bytes = (byte*)NativeMemory.AlignedAlloc(Step, Page);
        Random.Shared.NextBytes(new Span<byte>(bytes, Step));
        for (long at = 0; at + Step <= medium.Bytes; at += Step)
        {
            if (medium.Write(at, bytes, Step) != 0) throw new IOException("the file beside the tier cannot be written");
        }
        NativeMemory.AlignedFree(bytes);
    }

    // On the core of the server, which waits meanwhile.
    private static unsafe double Read(FileMedium medium, CompareOptions options)
    {
        if (options.ServerCore >= 0) Cores.PinThread(options.ServerCore);
        byte* bytes = (byte*)NativeMemory.AlignedAlloc(Depth * Page, Page);
        long done = 0, pages = medium.Bytes / Page, from = Stopwatch.GetTimestamp();
        Random random = new(1);
        using (IMediumReader reader = medium.OpenReader(Depth, ReaderWake.None))
        {
            Span<FinishedRead> finished = stackalloc FinishedRead[Depth];
            for (int i = 0; i < Depth; i++) reader.Begin((ulong)i, random.NextInt64(pages) * Page, bytes + i * Page, Page);
            reader.Submit();
            while (Stopwatch.GetElapsedTime(from).TotalSeconds < options.CellSeconds)
            {
                reader.Wait();
                int count = reader.Take(finished);
                foreach (FinishedRead read in finished[..count]) reader.Begin(read.Token, random.NextInt64(pages) * Page, bytes + (int)read.Token * Page, Page);
                reader.Submit();
                done += count;
            }
        }
        double rate = done / Stopwatch.GetElapsedTime(from).TotalSeconds;
        NativeMemory.AlignedFree(bytes);
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        return rate;
    }
}
