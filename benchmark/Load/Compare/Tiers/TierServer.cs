using System.Globalization;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare.Tiers;

/// <summary>A server of the set, with so much memory and what lies below it on the disk, held to both by a control group where there are some.</summary>
internal sealed class TierServer : IDisposable
{
    /// <summary>What a process takes beside its data, and what the system may keep of the files.</summary>
    private const long SlackBytes = 256L << 20;
    private readonly string _group;

    private TierServer(RunningPeer running, string group)
    {
        Running = running;
        _group = group;
    }

    public RunningPeer Running { get; }

    /// <summary>Ours, its tier switched off or on.</summary>
    public static Peer Ours(CompareOptions options, long memoryBytes, bool hasTier, string flags = "") => new(hasTier ? "ours+tier" : "ours",
        "artifacts/bin/GarnetServer/release/garnet-server",
        $"--port {{0}} --bind 127.0.0.1 --save \"\" --appendonly no --maxmemory {memoryBytes}{(hasTier ? " --tier-path {1} --tier-size 16gb" : "")} {flags} {options.OursFlags}".TrimEnd());

    /// <summary>
    /// The Garnet tool, a quarter of the memory for its index. Its other devices need a newer system than some; this one reads through the system's cache.
    /// </summary>
    public static Peer Theirs(long memoryBytes) => new("garnet+tier", "artifacts/peer/garnet-server",
        $"--bind 127.0.0.1 -q --port {{0}} -m {memoryBytes * 3 / 4} --index {memoryBytes / 4} -p 4m -s 256m --device-type RandomAccess --storage-tier --logdir {{1}}");

    public static TierServer Start(CompareOptions options, Peer peer, long memoryBytes)
    {
        peer.Clear();
        RunningPeer running = RunningPeer.Start(peer, options.ServerCore);
        return new TierServer(running, Hold(options.MemoryGroup, running.Pid, memoryBytes + SlackBytes));
    }

    /// <summary>One that no group holds: for what is compared with.</summary>
    public static TierServer StartAlone(CompareOptions options, Peer peer)
    {
        peer.Clear();
        return new TierServer(RunningPeer.Start(peer, options.ServerCore), "");
    }

    /// <summary>A figure of our INFO tiering; 0 for others.</summary>
    public long Figure(string name) =>
        long.TryParse(Running.Field("tiering", name), NumberStyles.None, CultureInfo.InvariantCulture, out long value) ? value : 0;

    public long Keys => long.Parse(Running.Ask("DBSIZE").Trim()[1..], CultureInfo.InvariantCulture);

    public string RssMiB => Statistics.Text(ServerClock.ReadRss(Running.Pid) / 1048576.0, "F0");

    /// <summary>Returns once what is moved in the background has been: nothing is written for a while.</summary>
    public void Settle()
    {
        const int PauseMs = 500, QuietTimes = 4;
        long written = -1;
        for (int quiet = 0; quiet < QuietTimes;)
        {
            Thread.Sleep(PauseMs);
            long now = Figure("tier_written_bytes");
            quiet = now == written ? quiet + 1 : 0;
            written = now;
        }
    }

    public void Dispose()
    {
        Running.Dispose();
        Running.Peer.Clear();
        if (_group.Length > 0) Directory.Delete(_group);
    }

    private static string Hold(string group, int pid, long bytes)
    {
        if (group.Length == 0 || !Directory.Exists(Path.GetDirectoryName(group))) return "";
        Directory.CreateDirectory(group);
        File.WriteAllText(Path.Combine(group, "memory.limit_in_bytes"), bytes.ToString(CultureInfo.InvariantCulture));
        File.WriteAllText(Path.Combine(group, "cgroup.procs"), pid.ToString(CultureInfo.InvariantCulture));
        return group;
    }
}
