using Garnet.Common.Linux;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare;

/// <summary>Memory of connections that once said PING, and what ten thousand of them do to sixty-four busy ones.</summary>
internal static unsafe class IdleConnections
{
    private const int Few = 2_000, Many = 10_000, Busy = 64, SettleMs = 300;

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        report.Head("system", "KiB RSS per idle connection (2,000)", "RSS MiB before / with / after", "GET p1 c64 alone: ns/op, p99.9 us", "with 10,000 idle: ns/op, p99.9 us");
        foreach (Peer peer in peers)
        {
            using RunningPeer running = RunningPeer.Start(peer, options.ServerCore);
            RunVerb.Fill(running.Server, 1000, Cell.ValueBytes, check: false);
            Load(running, peer.IsJitted ? options.Warmup : options.Warmup / 10);
            long before = Rss(running);
            long with = WithIdle(running, Few, () => Rss(running));
            long after = Rss(running);
            Measured alone = Load(running, options.CellSeconds);
            string crowded = Crowded(running, options.CellSeconds);
            report.Row([
                peer.Name,
                Statistics.Text((with - before) / 1024.0 / Few, "F1"),
                $"{before >> 20} / {with >> 20} / {after >> 20}",
                Text(alone),
                crowded]);
        }
        report.Line("");
    }

    private static string Crowded(RunningPeer peer, double seconds)
    {
        try
        {
            return Text(WithIdle(peer, Many, () => Load(peer, seconds)));
        }
        catch (IOException)
        {
            return "closed connections";
        }
    }

    private static string Text(Measured measured) => $"{measured.ServerNs:F0}, {measured.P999 / 1000}";

    private static T WithIdle<T>(RunningPeer peer, int count, Func<T> measure)
    {
        int[] descriptors = new int[count];
        try
        {
            for (int i = 0; i < count; i++) descriptors[i] = OpenAndPing(peer);
            return measure();
        }
        finally
        {
            foreach (int descriptor in descriptors)
                if (descriptor > 0) _ = Libc.close(descriptor);
        }
    }

    private static int OpenAndPing(RunningPeer peer)
    {
        int descriptor = Dial.Open(peer.Server);
        ReadOnlySpan<byte> ping = "*1\r\n$4\r\nPING\r\n"u8;
        byte* reply = stackalloc byte[16];
        fixed (byte* bytes = ping) _ = Libc.send(descriptor, bytes, ping.Length, Libc.MSG_NOSIGNAL);
        if (Libc.recv(descriptor, reply, 16, 0) != 7) throw new IOException($"{peer.Peer.Name} did not answer PING on an idle connection");
        return descriptor;
    }

    private static Measured Load(RunningPeer peer, double seconds)
    {
        Workload workload = new("get", 1, Cell.ValueBytes, new KeyStream(1000, KeyOrder.Uniform), check: false);
        GeneratorSettings settings = new() { Server = peer.Server, Connections = Busy, WarmupSeconds = 0.1, Seconds = seconds, ServerPid = peer.Pid };
        using Generator generator = new(workload, settings);
        return generator.Run();
    }

    private static long Rss(RunningPeer peer)
    {
        Thread.Sleep(SettleMs);
        return ServerClock.ReadRss(peer.Pid);
    }
}
