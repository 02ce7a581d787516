using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Tiers;

/// <summary>Large values of three times the memory: how long a read of one on the disk takes, and of the same ones once they have come back.</summary>
internal static class PromotionOnHit
{
    private const int Values = 96, ValueBytes = 1_000_000, MemoryMiB = 64, Chosen = 24, Reads = 1000;

    /// <summary>Between two reads: a value that was fetched is kept for 100 ms for others that want it, and each is to be read anew.</summary>
    private const int PauseMs = 20;

    public static void Run(CompareOptions options, Report report)
    {
        long memory = MemoryMiB << 20;
        report.Line($"{Values} values of {ValueBytes:N0} bytes in {MemoryMiB} MiB; GETs of {Chosen} of them that lie on the disk, one at a time, {Reads} before and {Reads} after they have come back; us.");
        report.Line("");
        report.Head("", "p50", "p95", "p99", "reads of the disk");
        using TierServer server = TierServer.Start(options, TierServer.Ours(options, memory, hasTier: true, "--tier-promotion no"), memory);
        using Probe probe = new(server.Running.Server);
        string value = new('v', ValueBytes);
        for (int i = 0; i < Values; i++) probe.Call(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n$4\r\nv:{i:D2}\r\n${ValueBytes}\r\n{value}\r\n")));
        server.Settle();
        string[] chosen = [.. Enumerable.Range(0, Values).Select(static i => $"v:{i:D2}").Where(key => server.Running.Ask("TIER.WHERE " + key).Contains("\r\ntier\r\n", StringComparison.Ordinal)).Take(Chosen)];
        if (chosen.Length < Chosen) throw new InvalidDataException($"only {chosen.Length} values lie on the disk: {server.Running.Ask("TIER.WHERE v:00")}");
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(server.Running.Server);
        double[] before = Row("on the disk", Reads), after = [];
        probe.Call("CONFIG SET tier-promotion yes");
        Time(3 * Chosen);
        after = Row("come back", Reads);
        report.Row(["ratio", .. before.Zip(after, static (a, b) => Statistics.Text(a / b, "F1")), ""]);

        double[] Row(string name, int times)
        {
            long reads = server.Figure("tier_reads");
            double[] us = Time(times);
            Array.Sort(us);
            double[] shares = [us[times / 2], us[times * 95 / 100], us[times * 99 / 100]];
            report.Row([name, .. shares.Select(static x => Statistics.Text(x, "F0")), Statistics.Text(server.Figure("tier_reads") - reads, "N0")]);
            return shares;
        }

        double[] Time(int times)
        {
            byte[] buffer = new byte[ValueBytes + 64];
            double[] us = new double[times];
            for (int i = 0; i < times; i++)
            {
                byte[] request = Probe.Request("GET " + chosen[i % chosen.Length]);
                Thread.Sleep(PauseMs);
                long from = Stopwatch.GetTimestamp();
                socket.Send(request);
                int wanted = ValueBytes + ValueBytes.ToString(CultureInfo.InvariantCulture).Length + 5;
                for (int got = 0; got < wanted;) got += socket.Receive(buffer, got, buffer.Length - got, SocketFlags.None);
                us[i] = Stopwatch.GetElapsedTime(from).TotalMicroseconds;
            }
            return us;
        }
    }
}
