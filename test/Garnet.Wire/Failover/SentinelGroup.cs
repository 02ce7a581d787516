using System.Globalization;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Failover;

/// <summary>
/// A primary, replicas and stock Sentinels, all as processes of their own. The Sentinels are asked to look more often than they
/// usually do, so that a round takes seconds; what they do is theirs.
/// </summary>
internal sealed class SentinelGroup : IDisposable
{
    public const int DownAfterMs = 1000, DeadlineMs = 60_000;
    public const string Name = "mymaster";
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-sentinel-");
    private readonly List<ServerProcess> _sentinels = [];

    /// <param name="sentinels">How many of them; more than half must agree.</param>
    /// <param name="flags">Command lines of the servers, of the first primary first.</param>
    public SentinelGroup(int sentinels, params string[] flags)
    {
        _ = Servers.Redis; // skips with the reason when it is not there
        Nodes = [.. flags.Select(static flag => new ReplicaServer(keepsData: true, flag, hasFile: true))];
        foreach (ReplicaServer replica in Nodes.Skip(1)) replica.Follow(Nodes[0]);
        for (int i = 0; i < sentinels; i++) _sentinels.Add(StartSentinel(i, (sentinels / 2) + 1));
        Assert.That(KnowsAll, Is.True.After(DeadlineMs, 50), () => string.Join('\n', _sentinels.Select(static one => Ask(one, "SENTINEL", "MASTERS").ToString())));
    }

    public IReadOnlyList<ReplicaServer> Nodes { get; }

    public IReadOnlyList<ServerProcess> Sentinels => _sentinels;

    /// <summary>The primary that the Sentinels name.</summary>
    public ReplicaServer Primary => Nodes.First(node => node.Port == PortOf(_sentinels[0]));

    /// <summary>Asks a Sentinel for the primary's port.</summary>
    public static int PortOf(ServerProcess sentinel) => int.Parse(Ask(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", Name).Items![1].Text, CultureInfo.InvariantCulture);

    public static RespNode Ask(ServerProcess server, params string[] words)
    {
        using RespConnection connection = new(server.Address);
        return connection.Call(words);
    }

    /// <summary>Waits until all Sentinels name another primary than this one, which is told the same; that one.</summary>
    public ReplicaServer AwaitSwitch(ReplicaServer from)
    {
        Assert.That(() => _sentinels.All(one => PortOf(one) != from.Port) && _sentinels.Select(PortOf).Distinct().Count() == 1, Is.True.After(DeadlineMs, 20), "no other primary");
        return Primary;
    }

    /// <summary>
    /// Waits until all others follow the primary; that one. On a machine that is busy Sentinels take a server for dead now and then that only
    /// answers late, and promote once more: who leads is asked again at each look.
    /// </summary>
    public ReplicaServer AwaitFollowers()
    {
        ReplicaServer primary = Primary;
        Assert.That(() => AllFollow(primary = Primary), Is.True.After(DeadlineMs, 50), () => string.Join('\n', Nodes.Select(static node => $"{node.Port}\n{node.Info()}")));
        return primary;
    }

    private bool AllFollow(ReplicaServer primary) => Nodes.All(node => node == primary || Follows(node, primary));

    private static bool Follows(ReplicaServer node, ReplicaServer primary)
    {
        try
        {
            using RespConnection connection = node.Connect();
            string info = connection.Call("INFO", "replication").Text;
            return info.Contains(string.Create(CultureInfo.InvariantCulture, $"master_port:{primary.Port}\r\nmaster_link_status:up"), StringComparison.Ordinal);
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or IOException)
        {
            return false; // a Sentinel closes all clients of a server whose role it changes
        }
    }

    public void Dispose()
    {
        foreach (ServerProcess sentinel in _sentinels) sentinel.Dispose();
        foreach (ReplicaServer node in Nodes) node.Dispose();
        _directory.Delete(recursive: true);
    }

    private ServerProcess StartSentinel(int number, int quorum)
    {
        string file = Path.Combine(_directory.FullName, string.Create(CultureInfo.InvariantCulture, $"sentinel{number}.conf"));
        File.WriteAllText(file, string.Create(CultureInfo.InvariantCulture, $"""
            sentinel monitor {Name} 127.0.0.1 {Nodes[0].Port} {quorum}
            sentinel down-after-milliseconds {Name} {DownAfterMs}
            sentinel failover-timeout {Name} 4000

            """));
        ServerProcess sentinel = ServerProcess.TryStartSentinel(file) ?? throw new IgnoreException("redis-server is not installed");
        // A Sentinel looks at the role of a server that is up every 10 s, and corrects it after four of its publish periods.
        Assert.That(Ask(sentinel, "SENTINEL", "DEBUG", "info-period", "500", "ping-period", "200", "publish-period", "200").ToString(), Is.EqualTo("+OK"));
        return sentinel;
    }

    private bool KnowsAll() => _sentinels.All(one =>
    {
        List<RespNode> fields = [.. Ask(one, "SENTINEL", "MASTER", Name).Items!];
        string Field(string name) => fields[fields.FindIndex(field => field.Text == name) + 1].Text;
        return Field("num-slaves") == (Nodes.Count - 1).ToString(CultureInfo.InvariantCulture)
            && Field("num-other-sentinels") == (_sentinels.Count - 1).ToString(CultureInfo.InvariantCulture) && Field("flags") == "master"
            && Ask(one, "SENTINEL", "REPLICAS", Name).Items!.All(static replica => replica.ToString().Contains("\"flags\" \"slave\"", StringComparison.Ordinal));
    });
}
