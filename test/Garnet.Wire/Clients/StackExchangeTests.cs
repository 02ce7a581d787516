using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using Garnet.Common.Test;
using Garnet.Wire.Replication;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>StackExchange.Redis, the client most .NET programs use: what every version of it can do, in each protocol that it speaks.</summary>
[Parallelizable] // servers of its own
[TestFixtureSource(typeof(ClientVersion), nameof(ClientVersion.Protocols))]
internal sealed class StackExchangeTests(string protocol) : ClientFixture(protocol)
{
    private const int WaitMs = 60_000;

    [Test]
    public void It_is_the_version_that_is_to_be_tested()
    {
        Version loaded = typeof(ConnectionMultiplexer).Assembly.GetName().Version!;
        string file = System.Diagnostics.FileVersionInfo.GetVersionInfo(typeof(ConnectionMultiplexer).Assembly.Location).FileVersion!;
        Assert.That(Version.Parse(file).ToString(3), Is.EqualTo(ClientVersion.Wanted.ToString(3)), loaded.ToString());
    }

    [Test]
    public void It_sees_a_standaloneRestartable_that_can_be_written()
    {
        IServer server = Client.GetServer(IPAddress.Loopback.ToString(), Restartable.Port);
        Assert.That((server.IsConnected, ClientVersion.IsReplica(server), server.ServerType), Is.EqualTo((true, false, ServerType.Standalone)));
        Assert.That(server.Version, Is.GreaterThanOrEqualTo(new Version(7, 0)));
        Assert.That(server.Ping(), Is.LessThan(TimeSpan.FromSeconds(5)));
        Assert.That(server.Info("server").Single().Count(), Is.Positive);
        Assert.That(server.ConfigGet("maxmemory"), Has.Length.EqualTo(1));
        Assert.That(server.ClientList(), Is.Not.Empty);
        Assert.That(server.Time(), Is.EqualTo(DateTime.UtcNow).Within(TimeSpan.FromMinutes(1)));
    }

    [Test]
    public void Transactions_with_conditions_work()
    {
        Database.KeyDelete(["se:t1", "se:t2"]);
        ITransaction first = Database.CreateTransaction();
        first.AddCondition(Condition.KeyNotExists("se:t1"));
        Task<bool> set = first.StringSetAsync("se:t1", "1");
        Task<long> increment = first.StringIncrementAsync("se:t2");
        Task<RedisResult> other = first.ExecuteAsync("SELECT", "0");
        Assert.That(first.Execute());
        Assert.That((set.InTime(), increment.InTime(), (string?)other.InTime()), Is.EqualTo((true, 1L, "OK")));
        ITransaction second = Database.CreateTransaction();
        second.AddCondition(Condition.KeyNotExists("se:t1"));
        Task<bool> never = second.StringSetAsync("se:t1", "2");
        Assert.That((second.Execute(), never.IsCanceled), Is.EqualTo((false, true)));
        Assert.That((string?)Database.StringGet("se:t1"), Is.EqualTo("1"));
    }

    [Test]
    public void Transfers_of_many_tasks_keep_the_sum()
    {
        const int Accounts = 8, Each = 100;
        for (int i = 0; i < Accounts; i++) Database.StringSet($"se:account{i}", Each);
        Task[] all = [.. Enumerable.Range(0, 16).Select(seed => Task.Run(() => Transfer(new Random(seed), Accounts)))];
        all.AwaitAll();
        Assert.That(Enumerable.Range(0, Accounts).Sum(i => (long)Database.StringGet($"se:account{i}")), Is.EqualTo(Accounts * Each));
    }

    private async Task Transfer(Random random, int accounts)
    {
        for (int i = 0; i < 100; i++)
        {
            ITransaction transaction = Database.CreateTransaction();
            _ = transaction.StringDecrementAsync($"se:account{random.Next(accounts)}", i);
            _ = transaction.StringIncrementAsync($"se:account{random.Next(accounts)}", i);
            Assert.That(await transaction.ExecuteAsync());
        }
    }

    [Test]
    public void Strings_and_counters_work()
    {
        byte[] bytes = [0, 13, 10, 255];
        Assert.That(Database.StringSet("se:bytes", bytes));
        Assert.That((byte[]?)Database.StringGet("se:bytes"), Is.EqualTo(bytes));
        Assert.That(Database.StringIncrement("se:n", 41), Is.EqualTo(41));
        Assert.That(Database.StringDecrement("se:n"), Is.EqualTo(40));
        Assert.That(Database.StringIncrement("se:f", 0.5), Is.EqualTo(0.5));
        Assert.That(Database.StringAppend("se:text", "abc"), Is.EqualTo(3));
        Assert.That((string?)Database.StringGetRange("se:text", 1, 2), Is.EqualTo("bc"));
        Assert.That((string?)Database.StringGetSet("se:text", "xyz"), Is.EqualTo("abc"));
        Assert.That(Database.StringSet([new("se:m1", 1), new("se:m2", 2)]));
        Assert.That(Database.StringGet(["se:m1", "se:none", "se:m2"]).Select(v => (string?)v), Is.EqualTo(new[] { "1", null, "2" }));
        Assert.That(Database.StringSet("se:m1", "3", when: When.NotExists), Is.False);
        Assert.That(Database.KeyDelete(["se:m1", "se:m2", "se:none"]), Is.EqualTo(2));
        Assert.That(Database.KeyType("se:text"), Is.EqualTo(RedisType.String));
    }

    [Test]
    public void Expiry_is_set_read_and_kept()
    {
        Database.StringSet("se:e", "v", TimeSpan.FromMinutes(5));
        Assert.That(Database.KeyTimeToLive("se:e"), Is.InRange(TimeSpan.FromMinutes(4), TimeSpan.FromMinutes(5)));
        Assert.That(Database.StringGetWithExpiry("se:e").Expiry, Is.Not.Null);
        Assert.That(Database.KeyPersist("se:e"));
        Assert.That(Database.KeyTimeToLive("se:e"), Is.Null);
        Assert.That(Database.KeyExpire("se:e", DateTime.UtcNow.AddMilliseconds(20)));
        Assert.That(() => Database.KeyExists("se:e"), Is.False.After(WaitMs, 5));
    }

    [Test]
    public async Task Ten_thousand_commands_at_once_get_their_own_replies()
    {
        Task<long>[] increments = [.. Enumerable.Range(0, 10_000).Select(_ => Database.StringIncrementAsync("se:pipe"))];
        Assert.That(await Task.WhenAll(increments), Is.EqualTo(Enumerable.Range(1, 10_000)));
        IBatch batch = Database.CreateBatch();
        Task<bool> set = batch.StringSetAsync("se:batch", "1");
        Task<RedisValue> get = batch.StringGetAsync("se:batch");
        batch.Execute();
        Assert.That((await set, (string?)await get), Is.EqualTo((true, "1")));
    }

    [Test]
    public void Messages_reach_subscribers_and_patterns()
    {
        ISubscriber subscriber = Client.GetSubscriber();
        ConcurrentQueue<string> got = new();
        RedisChannel one = Channel("se:ch");
        subscriber.Subscribe(one, (channel, message) => got.Enqueue($"{channel} {message}"));
        subscriber.Subscribe(new RedisChannel("se:p:*", RedisChannel.PatternMode.Pattern), (channel, message) => got.Enqueue($"{channel} {message}"));
        Assert.That(subscriber.Publish(one, "one"), Is.EqualTo(1));
        Assert.That(subscriber.Publish(Channel("se:p:x"), "two"), Is.EqualTo(1));
        Assert.That(() => got.Order(), Is.EqualTo(new[] { "se:ch one", "se:p:x two" }).After(WaitMs, 5));
        subscriber.UnsubscribeAll();
        Assert.That(() => subscriber.Publish(one, "three"), Is.Zero.After(WaitMs, 5));
    }

    [Test]
    public void A_scan_finds_every_key()
    {
        HashSet<string> wanted = [.. Enumerable.Range(0, 1500).Select(i => "se:s:" + i.ToString(CultureInfo.InvariantCulture))];
        foreach (string key in wanted) Database.StringSet(key, "v", flags: CommandFlags.FireAndForget);
        Database.Ping();
        IServer server = Client.GetServer(IPAddress.Loopback.ToString(), Restartable.Port);
        Assert.That(server.Keys(pattern: "se:s:*", pageSize: 100).Select(key => key.ToString()).ToHashSet().SetEquals(wanted));
    }

    [Test]
    public void Other_databases_are_their_own()
    {
        Client.GetDatabase(5).StringSet("se:db", "five");
        Assert.That(Database.KeyExists("se:db"), Is.False);
        Assert.That((string?)Client.GetDatabase(5).StringGet("se:db"), Is.EqualTo("five"));
    }

    [Test]
    public void Errors_of_theRestartable_reach_the_caller()
    {
        Database.StringSet("se:text2", "x");
        Assert.That(() => Database.StringIncrement("se:text2"), Throws.InstanceOf<RedisServerException>().With.Message.Contains("not an integer"));
    }

    [Test, Order(int.MaxValue)]
    public void It_reconnects_after_a_restart_and_subscribes_again()
    {
        using RestartableServer server = new();
        using ConnectionMultiplexer client = ConnectionMultiplexer.Connect(Options(server.Port));
        int heard = 0;
        client.GetSubscriber().Subscribe(Channel("se:again"), (_, _) => Interlocked.Increment(ref heard));
        client.GetDatabase().StringSet("se:r", "1");
        server.Restart();
        Assert.That(() => Answer(client), Is.EqualTo("gone").After(WaitMs, 20));
        Assert.That(() => Hear(client, ref heard), Is.Positive.After(WaitMs, 20));
    }

    [Test]
    public void Told_of_allRestartables_it_writes_to_the_one_that_is_the_primary_now()
    {
        using ReplicaServer first = new(keepsData: false), second = new(keepsData: false);
        second.Follow(first);
        ConfigurationOptions options = Options(first.Port);
        options.EndPoints.Add(IPAddress.Loopback, second.Port);
        options.ConfigCheckSeconds = 1;
        using ConnectionMultiplexer client = ConnectionMultiplexer.Connect(options);
        Assert.That(client.GetDatabase().StringSet("se:role", "1"));
        using RespConnection next = second.Connect();
        Assert.That(next.Call("REPLICAOF", "NO", "ONE").ToString(), Is.EqualTo("+OK"));
        first.Follow(second);
        Assert.That(() => TrySet(client.GetDatabase(), "2"), Is.True.After(WaitMs, 20));
        Assert.That(next.Call("GET", "se:role").Text, Is.EqualTo("2"));
    }

    private static bool TrySet(IDatabase database, string value)
    {
        try
        {
            return database.StringSet("se:role", value);
        }
        catch (Exception e) when (e is RedisException or TimeoutException)
        {
            return false; // the old primary is a replica now
        }
    }

    private static RedisChannel Channel(string name) => new(name, RedisChannel.PatternMode.Literal);

    private static string Answer(ConnectionMultiplexer client)
    {
        try
        {
            return client.GetDatabase().KeyExists("se:r") ? "still there" : "gone";
        }
        catch (Exception e) when (e is RedisConnectionException or TimeoutException)
        {
            return e.Message;
        }
    }

    private static int Hear(ConnectionMultiplexer client, ref int heard)
    {
        client.GetDatabase().Publish(Channel("se:again"), "x");
        return Volatile.Read(ref heard);
    }
}
