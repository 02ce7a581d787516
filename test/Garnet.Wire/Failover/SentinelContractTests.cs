using System.Globalization;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Failover;

/// <summary>What a Sentinel relies on, one thing after the other: each has misled one where a server did it otherwise.</summary>
[Parallelizable] // servers of its own
public sealed class SentinelContractTests
{
    private const int WaitMs = 60_000;

    [Test]
    public void Info_has_the_fields_of_redis_in_the_order_of_redis()
    {
        _ = Servers.Redis;
        using ServerProcess redis = ServerProcess.TryStartRedis("--repl-diskless-sync-delay 0")!, redisReplica = ServerProcess.TryStartRedis($"--replicaof 127.0.0.1 {Text(redis.Address.Port)}")!;
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        replica.Follow(primary);
        AwaitUp(redisReplica);
        Assert.That(Fields(primary.Process), Is.EqualTo(Fields(redis)));
        Assert.That(Fields(replica.Process), Is.EqualTo(Fields(redisReplica)));
        redis.Dispose();
        primary.Kill();
        Assert.That(() => Fields(redisReplica), Does.Contain("master_link_down_since_seconds").After(WaitMs, 50));
        Assert.That(() => Fields(replica.Process), Is.EqualTo(Fields(redisReplica)).After(WaitMs, 50));
    }

    [Test]
    public void Lines_of_info_end_in_cr_and_lf_and_the_role_comes_first()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        replica.Follow(primary);
        string info = replica.Info();
        Assert.That(info, Does.StartWith("# Replication\r\nrole:slave\r\nmaster_host:127.0.0.1\r\n"));
        Assert.That(info.Split('\n').SkipLast(1), Has.All.EndsWith("\r"));
    }

    [Test]
    public void The_run_id_is_another_one_after_a_restart_and_the_same_after_a_change_of_role()
    {
        using ReplicaServer server = new(keepsData: false);
        string RunId()
        {
            using RespConnection connection = server.Connect();
            return ReplicaServer.Field(connection, "run_id");
        }
        string first = RunId();
        Assert.That(first, Does.Match("^[0-9a-f]{40}$"));
        using (RespConnection connection = server.Connect()) connection.Call("REPLICAOF", "127.0.0.1", "1");
        Assert.That(RunId(), Is.EqualTo(first));
        server.Kill();
        server.Start();
        Assert.That(RunId(), Is.Not.EqualTo(first));
    }

    [Test]
    public void A_promotion_is_one_transaction_that_its_connection_survives_and_others_do_not()
    {
        using ReplicaServer primary = new(keepsData: true), replica = new(keepsData: true, hasFile: true);
        replica.Follow(primary);
        using RespConnection sentinel = replica.Connect(), client = replica.Connect(), listener = replica.Connect();
        Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
        listener.Call("SUBSCRIBE", "__sentinel__:hello");
        Assert.That(sentinel.Call("CLIENT", "SETNAME", "sentinel-01234567-cmd").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reconfigure(sentinel, "NO", "ONE"), Does.Match(@"^\[ \+""OK"" \+""OK"" :\d+ :1 \]$"));
        Assert.That(ReplicaServer.Field(sentinel, "role"), Is.EqualTo("master"), "at once");
        Assert.That(client.ReadsEnd() && listener.ReadsEnd());
        Assert.That(sentinel.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"), "waits until it is a primary");
        replica.Kill();
        replica.Start();
        using RespConnection again = replica.Connect();
        Assert.That(ReplicaServer.Field(again, "role"), Is.EqualTo("master"), "its file says so: " + replica.FileText);
        Assert.That(again.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [Test]
    public void A_replica_sent_elsewhere_says_so_at_once_and_goes_there_after_a_restart()
    {
        using ReplicaServer first = new(keepsData: false), second = new(keepsData: false), replica = new(keepsData: true, hasFile: true);
        replica.Follow(first);
        using RespConnection sentinel = replica.Connect();
        Assert.That(Reconfigure(sentinel, "127.0.0.1", Text(second.Port)), Does.StartWith("[ +\"OK\" +\"OK\" "));
        Assert.That(replica.Info(), Does.StartWith($"# Replication\r\nrole:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:{Text(second.Port)}\r\n"));
        replica.AwaitLink();
        replica.Kill();
        replica.Start();
        Assert.That(replica.Info(), Does.Contain($"master_port:{Text(second.Port)}\r\n"), replica.FileText);
    }

    [Test]
    public void A_primary_made_a_replica_says_so_at_once()
    {
        using ReplicaServer first = new(keepsData: false), second = new(keepsData: true, hasFile: true);
        using RespConnection sentinel = second.Connect();
        Reconfigure(sentinel, "127.0.0.1", Text(first.Port));
        Assert.That(second.Info(), Does.StartWith($"# Replication\r\nrole:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:{Text(first.Port)}\r\n"));
        Assert.That(sentinel.Call("SET", "k", "v").Text, Does.StartWith("READONLY"));
    }

    [Test]
    public void A_replica_passes_hellos_on_to_those_who_listen()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        replica.Follow(primary);
        using RespConnection sentinel = replica.Connect(), listener = replica.Connect();
        listener.Call("SUBSCRIBE", "__sentinel__:hello");
        Assert.That(sentinel.Call("PUBLISH", "__sentinel__:hello", "127.0.0.1,26379,id,1,mymaster,127.0.0.1,6379,0").ToString(), Is.EqualTo(":1"));
        Assert.That(listener.Read().Items![2].Text, Does.StartWith("127.0.0.1,26379"));
    }

    [Test]
    public void A_replica_that_must_not_serve_stale_data_still_serves_a_Sentinel()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: true, "--replica-serve-stale-data no", hasFile: true);
        replica.Follow(primary);
        primary.Kill();
        using RespConnection sentinel = replica.Connect(), listener = replica.Connect();
        Assert.That(() => sentinel.Call("PING").Text, Does.StartWith("MASTERDOWN").After(WaitMs, 20));
        Assert.That(sentinel.Call("CLIENT", "SETNAME", "sentinel-01234567-cmd").ToString(), Is.EqualTo("+OK"));
        Assert.That(listener.Call("SUBSCRIBE", "__sentinel__:hello").Items, Has.Count.EqualTo(3));
        Assert.That(sentinel.Call("PUBLISH", "__sentinel__:hello", "x").ToString(), Is.EqualTo(":1"));
        Assert.That(sentinel.Call("INFO").Text, Does.Contain("role:slave"));
        Assert.That(Reconfigure(sentinel, "NO", "ONE"), Does.StartWith("[ +\"OK\" +\"OK\" "));
        Assert.That(sentinel.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void The_offset_of_a_replica_is_that_of_the_primary_it_has_caught_up_with_and_outlives_a_restart()
    {
        using ReplicaServer primary = new(keepsData: true, "--appendfsync always"), replica = new(keepsData: true, "--appendfsync always");
        replica.Follow(primary);
        long before = -1;
        using (RespConnection connection = primary.Connect())
        {
            for (int i = 0; i < 20; i++)
            {
                connection.Call("SET", "k", Text(i));
                Assert.That(connection.Call("WAITAOF", "1", "1", "10000").ToString(), Is.EqualTo("[ :1 :1 ]"));
                long now = replica.Number("slave_repl_offset");
                Assert.That(now, Is.GreaterThan(before));
                before = now;
            }
        }
        primary.Kill();
        replica.Kill();
        replica.Start($"--replicaof \"127.0.0.1 {Text(primary.Port)}\"");
        Assert.That(replica.Number("slave_repl_offset"), Is.GreaterThanOrEqualTo(before), "nobody is there to follow, and it still has all");
        using (RespConnection connection = replica.Connect()) connection.Call("REPLICAOF", "NO", "ONE");
        Assert.That(() => replica.Number("master_repl_offset"), Is.GreaterThan(before).After(WaitMs, 20), "a later term counts for more");
    }

    [Test]
    public void A_link_that_is_down_says_since_when_however_often_it_was_tried_again()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        replica.Follow(primary);
        primary.Kill();
        Assert.That(() => Since(replica), Is.GreaterThanOrEqualTo(4).After(WaitMs, 50));

        static long Since(ReplicaServer server)
        {
            using RespConnection connection = server.Connect();
            return long.TryParse(ReplicaServer.Field(connection, "master_link_down_since_seconds"), CultureInfo.InvariantCulture, out long seconds) ? seconds : -1;
        }
    }

    [Test]
    public void A_replica_is_announced_as_it_wants_to_be()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false, "--replica-announce-ip 10.9.8.7 --replica-announce-port 1234 --replica-priority 7 --replica-announced no");
        replica.Follow(primary);
        Assert.That(primary.Info(), Does.Contain("slave0:ip=10.9.8.7,port=1234,state=online,"));
        using RespConnection connection = primary.Connect();
        Assert.That(connection.Call("ROLE").ToString(), Does.Contain("[ \"10.9.8.7\" \"1234\" "));
        Assert.That(replica.Info(), Does.Contain("slave_priority:7\r\nslave_read_only:1\r\nreplica_announced:0\r\n"));
    }

    private static string Reconfigure(RespConnection sentinel, string host, string port)
    {
        Assert.That(sentinel.Call("MULTI").ToString(), Is.EqualTo("+OK"));
        foreach (string[] words in (string[][])[["SLAVEOF", host, port], ["CONFIG", "REWRITE"], ["CLIENT", "KILL", "TYPE", "normal"], ["CLIENT", "KILL", "TYPE", "pubsub"]])
            Assert.That(sentinel.Call(words).ToString(), Is.EqualTo("+QUEUED"));
        return sentinel.Call("EXEC").ToString();
    }

    // Without ours, which come behind.
    private static string[] Fields(ServerProcess server)
    {
        using RespConnection connection = new(server.Address);
        string[] lines = connection.Call("INFO", "replication").Text.Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        return [.. lines.Select(static line => line.Split(':')[0]).Where(static name => !name.StartsWith("garnet_", StringComparison.Ordinal))];
    }

    private static void AwaitUp(ServerProcess replica)
    {
        using RespConnection connection = new(replica.Address);
        Assert.That(() => ReplicaServer.Field(connection, "master_link_status"), Is.EqualTo("up").After(WaitMs, 50));
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
