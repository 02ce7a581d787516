using System.Diagnostics;
using System.Globalization;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare.Bulk;

/// <summary>
/// Values of 64 KiB to 64 MiB, put and got one at a time over one connection: by SET and GET of every system, and by our own bulk commands over the connection, by
/// the kernel's copy from memory of the client's, by memory that both processes map, and over libfabric where it is. Beside each row what both sides took of the processor, and one memcpy.
/// </summary>
internal static class BulkSet
{
    private const double Gigabyte = 1e9, SpentBytes = 256 << 20; // of each way, value size and round
    private const int Keys = 4;
    private static readonly string[] s_fabrics = ["net"];
    private static readonly int[] s_sizes = [64 << 10, 1 << 20, 16 << 20, 64 << 20];

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        List<RunningPeer> running = [.. peers.Select(peer => RunningPeer.Start(Open(peer), options.ServerCore))];
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        List<IBulkWay> ways = [.. running.Select(static server => new SocketWay(server))];
        RunningPeer? ours = running.Find(static server => server.Peer.Name is "ours" or "native");
        if (ours is not null)
        {
            ways.AddRange([new ClientWay(ours, "inline", isOwn: true), new ClientWay(ours, "local", isOwn: true), new ClientWay(ours, "local", isOwn: false)]);
            ways.AddRange(s_fabrics.Where(ClientWay.Has).Select(fabric => new ClientWay(ours, fabric, isOwn: true)));
        }

        report.Line($"One connection, one value at a time, {Keys} keys; GB/s and CPU-seconds per GB of server and client; medians of {options.Rounds} interleaved rounds.");
        report.Line("");
        foreach (int size in s_sizes)
        {
            foreach (bool puts in (bool[])[true, false]) Measure(ways, size, puts, options.Rounds, report);
        }

        report.Line("One memcpy in the client, GB/s: " + string.Join(", ", s_sizes.Select(static size =>
            $"{size >> 10} KiB {Statistics.Text(Copies(size), "F1")}")));
        report.Line("");
        ways.ForEach(static way => way.Dispose());
        running.ForEach(static server => server.Dispose());
    }

    private static Peer Open(Peer peer) =>
        peer.Name is "ours" or "native" ? peer with { Flags = $"{peer.Flags} --bulk-providers \"local {string.Join(' ', s_fabrics)}\"" } : peer;

    private static void Measure(List<IBulkWay> ways, int size, bool puts, int rounds, Report report)
    {
        string SizeText(int bytes) => bytes >= 1 << 20 ? $"{bytes >> 20} MiB" : $"{bytes >> 10} KiB";
        report.Head($"{(puts ? "put" : "get")} of {SizeText(size)}", "GB/s", $": {ways[0].Name}", "server CPU s/GB", "client CPU s/GB");
        List<Sample>[] samples = [.. ways.Select(static _ => new List<Sample>())];
        foreach (IBulkWay way in ways) Spend(way, size, puts, SpentBytes / 4);
        for (int round = 0; round < rounds; round++)
        {
            for (int i = 0; i < ways.Count; i++) samples[i].Add(Spend(ways[i], size, puts, SpentBytes));
        }

        for (int i = 0; i < ways.Count; i++)
        {
            report.Row([ways[i].Name, Statistics.Spread([.. samples[i].Select(static sample => sample.Rate)], "F2"),
                Statistics.Text(Statistics.Median(samples[i].Select((sample, round) => sample.Rate / samples[0][round].Rate)), "F2"),
                Statistics.Text(Statistics.Median(samples[i].Select(static sample => sample.Server)), "F2"),
                Statistics.Text(Statistics.Median(samples[i].Select(static sample => sample.Client)), "F2")]);
        }

        report.Line("");
    }

    private static Sample Spend(IBulkWay way, int size, bool puts, double bytes)
    {
        way.Prepare(size);
        if (!puts) Enumerable.Range(0, Keys).ToList().ForEach(key => way.Put(KeyOf(key), size));
        long count = Math.Max(2, (long)(bytes / size));
        double server = ServerClock.ReadNs(way.ServerPid), client = ServerClock.ReadNs(Environment.ProcessId);
        long from = Stopwatch.GetTimestamp();
        for (long i = 0; i < count; i++)
        {
            if (puts) way.Put(KeyOf(i % Keys), size);
            else way.Get(KeyOf(i % Keys), size);
        }

        double moved = count * (double)size / Gigabyte, seconds = Stopwatch.GetElapsedTime(from).TotalSeconds;
        return new Sample(moved / seconds, (ServerClock.ReadNs(way.ServerPid) - server) / 1e9 / moved, (ServerClock.ReadNs(Environment.ProcessId) - client) / 1e9 / moved);
    }

    private static double Copies(int size)
    {
        byte[] from = new byte[size], to = new byte[size];
        long count = Math.Max(4, (long)(SpentBytes * 4 / size)), began = Stopwatch.GetTimestamp();
        for (long i = 0; i < count; i++) from.AsSpan().CopyTo(to);
        return count * (double)size / Gigabyte / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static string KeyOf(long number) => string.Create(CultureInfo.InvariantCulture, $"bulk:{number}");

    private readonly record struct Sample(double Rate, double Server, double Client);
}
