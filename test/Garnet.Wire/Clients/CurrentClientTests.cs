using System.Collections.Concurrent;
using System.Net;
using Garnet.Common.Test;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>What only the current StackExchange.Redis can do, in both protocols: RESP3 itself, and commands that the old one has no methods for.</summary>
[Parallelizable] // servers of its own
[TestFixtureSource(typeof(ClientVersion), nameof(ClientVersion.Protocols))]
internal sealed class CurrentClientTests(string protocol) : ClientFixture(protocol)
{
    private const int WaitMs = 60_000;

    private IServer Server => Client.GetServer(IPAddress.Loopback, Restartable.Port);

    [Test]
    public void It_speaks_the_protocol_it_was_told_to_on_the_connection_that_listens_too()
    {
        RedisProtocol wanted = Protocol == "RESP3" ? RedisProtocol.Resp3 : RedisProtocol.Resp2;
        Client.GetSubscriber().Subscribe(RedisChannel.Literal("cc:any"), static (_, _) => { });
        Assert.That(Server.Protocol, Is.EqualTo(wanted));
        Assert.That(Server.ClientList().Where(client => client.Name == "cc").Select(static client => client.Protocol), Is.Not.Empty.And.All.EqualTo(wanted));
        Assert.That(Server.ClientList().Where(client => client.Name == "cc").Select(static client => client.LibraryName), Has.All.StartWith("SE.Redis"));
        Assert.That(Server.Features.Streams);
        Client.GetSubscriber().Unsubscribe(RedisChannel.Literal("cc:any"));
    }

    [Test]
    public void A_user_with_rights_works_within_them()
    {
        Database.Execute("ACL", "SETUSER", "app", "on", ">pw", "+@all", "-@dangerous", "+info", "+config|get", "~app:*", "%R~shared:*", "&app:*", "&__Booksleeve_MasterChanged");
        Database.StringSet("shared:x", "1");
        ConfigurationOptions options = Options();
        (options.User, options.Password, options.AllowAdmin) = ("app", "pw", false);
        using (ConnectionMultiplexer app = ConnectionMultiplexer.Connect(options))
        {
            IDatabase own = app.GetDatabase();
            Assert.That(own.StringSet("app:x", "1"));
            Assert.That((string?)own.StringGet("shared:x"), Is.EqualTo("1"));
            foreach (Action refused in (Action[])[() => own.StringSet("shared:x", "2"), () => own.StringGet("other"), () => own.Execute("FLUSHALL"), () => app.GetSubscriber().Publish(RedisChannel.Literal("other"), "x")])
                Assert.That(() => refused(), Throws.InstanceOf<RedisServerException>().With.Message.Contains("NOPERM"));
            Assert.That(own.StringIncrement("app:n"), Is.EqualTo(1));
            ConcurrentQueue<string> got = new();
            app.GetSubscriber().Subscribe(RedisChannel.Literal("app:news"), (_, message) => got.Enqueue(message!));
            Client.GetSubscriber().Publish(RedisChannel.Literal("app:news"), "one");
            Assert.That(() => got, Is.EqualTo(new[] { "one" }).After(WaitMs, 5));
        }
        Assert.That((int)Database.Execute("ACL", "DELUSER", "app"), Is.EqualTo(1));
    }

    [Test]
    public void With_a_password_it_connects_and_without_it_is_told_why_not()
    {
        using ServerProcess locked = ServerProcess.TryStartOurs("--requirepass secret")!;
        ConfigurationOptions options = Options(locked.Address.Port);
        options.Password = "secret";
        using (ConnectionMultiplexer client = ConnectionMultiplexer.Connect(options)) Assert.That(client.GetDatabase().StringSet("k", "v"));
        options.User = "default";
        using (ConnectionMultiplexer client = ConnectionMultiplexer.Connect(options)) Assert.That((string?)client.GetDatabase().StringGet("k"), Is.EqualTo("v"));
        options.Password = "wrong";
        options.AbortOnConnectFail = true;
        Assert.That(() => ConnectionMultiplexer.Connect(options).Dispose(), Throws.InstanceOf<RedisConnectionException>());
    }

    [Test]
    public void Messages_reach_a_sharded_channel()
    {
        ConcurrentQueue<string> got = new();
        RedisChannel channel = RedisChannel.Sharded("cc:sharded");
        ISubscriber subscriber = Client.GetSubscriber();
        subscriber.Subscribe(channel, (_, message) => got.Enqueue(message.ToString()));
        Assert.That(subscriber.Publish(channel, "one"), Is.EqualTo(1));
        Assert.That(() => got.Order(), Is.EqualTo(new[] { "one" }).After(WaitMs, 5));
        subscriber.Unsubscribe(channel);
        Assert.That(() => subscriber.Publish(channel, "two"), Is.Zero.After(WaitMs, 5));
    }

    [Test]
    public void Events_of_keys_arrive_as_messages()
    {
        Server.ConfigSet("notify-keyspace-events", "KEA");
        ConcurrentQueue<string> got = new();
        RedisChannel channel = RedisChannel.KeySpaceSingleKey("cc:watched", 0);
        Client.GetSubscriber().Subscribe(channel).OnMessage(message => got.Enqueue(message.Message.ToString())); // one after the other, which handlers are not
        Database.StringSet("cc:watched", "v");
        Database.KeyDelete("cc:watched");
        Assert.That(() => got.ToArray(), Is.EqualTo(new[] { "set", "del" }).After(WaitMs, 5));
        Client.GetSubscriber().Unsubscribe(channel);
        Server.ConfigSet("notify-keyspace-events", "");
    }

    // It has no cache of its own: what one is built of, in the protocol in which messages come on the other connection.
    [Test]
    public void Changed_keys_arrive_on_the_connection_that_listens()
    {
        if (Protocol == "RESP3") Assert.Ignore("RESP3 tells them as pushes, which the client has no handler for");
        ConcurrentQueue<string> got = new();
        ISubscriber subscriber = Client.GetSubscriber();
        RedisChannel channel = RedisChannel.Literal("__redis__:invalidate");
        subscriber.Subscribe(channel, (_, key) => got.Enqueue(key.ToString()));
        long listener = Server.ClientList().Single(static client => client.Name == "cc" && client.SubscriptionCount > 0).Id;
        Assert.That((string?)Database.Execute("CLIENT", "TRACKING", "ON", "REDIRECT", listener, "BCAST", "PREFIX", "cc:cached:", "NOLOOP"), Is.EqualTo("OK"));
        using (ConnectionMultiplexer other = ConnectionMultiplexer.Connect(Options()))
        {
            other.GetDatabase().StringSet("cc:cached:a", "1");
            other.GetDatabase().StringSet("cc:other", "1");
            other.GetDatabase().KeyDelete("cc:cached:a");
        }
        Assert.That(() => got.ToArray(), Is.EqualTo(new[] { "cc:cached:a", "cc:cached:a" }).After(WaitMs, 5));
        Database.Execute("CLIENT", "TRACKING", "OFF");
        subscriber.Unsubscribe(channel);
    }

    [Test]
    public void A_group_reads_a_stream_claims_and_acknowledges()
    {
        RedisValue first = Database.StreamAdd("cc:x", "f", "1"), second = Database.StreamAdd("cc:x", [new("f", "2"), new("g", "3")]);
        Assert.That(Database.StreamCreateConsumerGroup("cc:x", "g", StreamPosition.Beginning));
        StreamEntry[] read = Database.StreamReadGroup("cc:x", "g", "alice", StreamPosition.NewMessages);
        Assert.That(read.Select(static entry => entry.Id), Is.EqualTo(new[] { first, second }));
        Assert.That((string?)read[1]["g"], Is.EqualTo("3"));
        StreamPendingInfo pending = Database.StreamPending("cc:x", "g");
        Assert.That((pending.PendingMessageCount, pending.LowestPendingMessageId, pending.Consumers.Single().Name), Is.EqualTo((2, first, (RedisValue)"alice")));
        Assert.That(Database.StreamPendingMessages("cc:x", "g", 10, "alice").Select(static one => one.MessageId), Is.EqualTo(new[] { first, second }));
        Assert.That(Database.StreamAcknowledge("cc:x", "g", first), Is.EqualTo(1));
        StreamAutoClaimResult claimed = Database.StreamAutoClaim("cc:x", "g", "bob", 0, "0-0");
        Assert.That(claimed.ClaimedEntries.Select(static entry => entry.Id), Is.EqualTo(new[] { second }));
        Assert.That(Database.StreamConsumerInfo("cc:x", "g").Select(static one => (one.Name, one.PendingMessageCount)), Is.EquivalentTo(new[] { ("alice", 0), ("bob", 1) }));
        StreamGroupInfo group = Database.StreamGroupInfo("cc:x").Single();
        Assert.That((group.Name, group.ConsumerCount, group.PendingMessageCount, group.LastDeliveredId, group.EntriesRead, group.Lag), Is.EqualTo(("g", 2, 1, (string?)second, 2L, 0L)));
        StreamInfo info = Database.StreamInfo("cc:x");
        Assert.That((info.Length, info.ConsumerGroupCount, info.FirstEntry.Id, info.LastEntry.Id, info.LastGeneratedId), Is.EqualTo((2, 1, first, second, second)));
        Assert.That(Database.StreamAcknowledgeAndDelete("cc:x", "g", StreamTrimMode.Acknowledged, second), Is.EqualTo(StreamTrimResult.Deleted));
        Assert.That(Database.StreamRange("cc:x").Select(static entry => entry.Id), Is.EqualTo(new[] { first }));
        Assert.That(Database.StreamTrim("cc:x", 0L), Is.EqualTo(1));
        Assert.That(Database.StreamDeleteConsumerGroup("cc:x", "g"));
    }

    [Test]
    public void Several_streams_are_read_at_once()
    {
        RedisValue one = Database.StreamAdd("cc:x1", "f", "1"), two = Database.StreamAdd("cc:x2", "f", "2");
        RedisStream[] read = Database.StreamRead([new("cc:x1", "0-0"), new("cc:x2", "0-0")], countPerStream: 5);
        Assert.That(read.Select(static stream => ((string?)stream.Key, stream.Entries.Single().Id)), Is.EqualTo(new[] { ("cc:x1", one), ("cc:x2", two) }));
        Database.StreamCreateConsumerGroup("cc:x1", "g", "0-0");
        Database.StreamCreateConsumerGroup("cc:x2", "g", "0-0");
        read = Database.StreamReadGroup([new("cc:x1", StreamPosition.NewMessages), new("cc:x2", StreamPosition.NewMessages)], "g", "c", countPerStream: 5);
        Assert.That(read.Select(static stream => stream.Entries.Single().Id), Is.EqualTo(new[] { one, two }));
    }

    [Test]
    public void The_keys_that_take_most_are_told()
    {
        Server.HotKeysStart(count: 5);
        Database.StringSet("cc:hot", new string('v', 1000));
        for (int i = 0; i < 50; i++) Database.StringGet("cc:hot");
        Database.StringSet("cc:cold", "v");
        Assert.That(Server.HotKeysStop(), Is.True);
        HotKeysResult? result = Server.HotKeysGet();
        Assert.That(result!.TrackingActive, Is.False);
        Assert.That(result.NetworkBytesByKey.ToArray().Select(static one => (string?)one.Key), Is.EqualTo(new[] { "cc:hot", "cc:cold" }));
        Assert.That(result.NetworkBytesByKey[0].Bytes, Is.InRange(51_000, 60_000));
        Server.HotKeysReset();
        Assert.That(Server.HotKeysGet(), Is.Null);
    }

    [Test]
    public void Scripts_are_loaded_once_and_called_by_their_digest()
    {
        Assert.That((long)Database.ScriptEvaluate("return redis.call('INCRBY', KEYS[1], ARGV[1])", ["cc:script"], [5]), Is.EqualTo(5));
        LoadedLuaScript loaded = LuaScript.Prepare("redis.call('SET', @key, @value) return redis.call('GET', @key)").Load(Server);
        Assert.That((string?)loaded.Evaluate(Database, new { key = (RedisKey)"cc:prepared", value = "v" }), Is.EqualTo("v"));
        Server.ScriptFlush();
        Assert.That((string?)Database.ScriptEvaluate(loaded, new { key = (RedisKey)"cc:prepared", value = "w" }), Is.EqualTo("w"), "the client loads it again");
        Assert.That((long)Database.ScriptEvaluateReadOnly("return #redis.call('GET', KEYS[1])", ["cc:prepared"]), Is.EqualTo(1));
        Dictionary<string, RedisResult> map = Database.ScriptEvaluate("redis.setresp(3) return {map={a=1}}").ToDictionary();
        Assert.That((long)map["a"], Is.EqualTo(1));
        Assert.That((double)Database.ScriptEvaluate("redis.setresp(3) return {double=2.5}"), Is.EqualTo(2.5));
    }

    [Test]
    public void A_transaction_with_conditions_of_every_type_runs_or_does_not()
    {
        Database.KeyDelete(["cc:h", "cc:z", "cc:t"]);
        Database.HashSet("cc:h", "f", "1");
        Database.SortedSetAdd("cc:z", "m", 1);
        ITransaction runs = Database.CreateTransaction();
        runs.AddCondition(Condition.HashEqual("cc:h", "f", "1"));
        runs.AddCondition(Condition.SortedSetContains("cc:z", "m"));
        Task<bool> set = runs.StringSetAsync("cc:t", "1");
        Task<SortedSetEntry[]> entries = runs.SortedSetRangeByRankWithScoresAsync("cc:z");
        Assert.That(runs.Execute());
        Assert.That((set.InTime(), entries.InTime().Single().Score), Is.EqualTo((true, 1.0)));
        ITransaction refused = Database.CreateTransaction();
        refused.AddCondition(Condition.ListLengthGreaterThan("cc:none", 0));
        Task<bool> never = refused.KeyDeleteAsync("cc:t");
        Assert.That((refused.Execute(), never.IsCanceled, Database.KeyExists("cc:t")), Is.EqualTo((false, true, true)));
    }

    [Test]
    public void A_value_is_set_or_deleted_only_if_it_is_the_expected_one()
    {
        Database.StringSet("cc:cas", "old");
        ValueCondition digest = Database.StringDigest("cc:cas")!.Value;
        Assert.That(digest, Is.EqualTo(ValueCondition.Equal("old").AsDigest()), "the client and the server know the same hash");
        Assert.That(Database.StringSet("cc:cas", "new", when: ValueCondition.Equal("other")), Is.False);
        Assert.That(Database.StringSet("cc:cas", "new", when: digest));
        Assert.That(Database.StringDelete("cc:cas", digest), Is.False);
        Assert.That(Database.StringDelete("cc:cas", ValueCondition.Equal("new")));
        Assert.That(Database.StringDigest("cc:cas"), Is.Null);
    }

    [TestCase(1)]
    [TestCase(300)]
    [TestCase(100_000)]
    public void The_digest_of_a_value_is_the_one_that_theClient_computes(int bytes)
    {
        byte[] value = new byte[bytes];
        new Random(bytes).NextBytes(value);
        Database.StringSet("cc:digest", value);
        Assert.That(Database.StringDigest("cc:digest"), Is.EqualTo(ValueCondition.CalculateDigest(value)));
    }

    [Test]
    public void Fields_of_a_hash_expire()
    {
        Database.HashFieldSetAndSetExpiry("cc:fields", [new("a", "1"), new("b", "2")], TimeSpan.FromMinutes(5));
        Assert.That(Database.HashFieldGetTimeToLive("cc:fields", ["a", "none"]), Has.ItemAt(0).InRange(1, 300_000).And.ItemAt(1).EqualTo(-2));
        Assert.That(Database.HashFieldPersist("cc:fields", ["a"]), Is.EqualTo(new[] { PersistResult.Success }));
        Assert.That(Database.HashFieldExpire("cc:fields", ["a", "none"], TimeSpan.FromMinutes(1)), Is.EqualTo(new[] { ExpireResult.Success, ExpireResult.NoSuchField }));
        Assert.That((string?)Database.HashFieldGetAndSetExpiry("cc:fields", "b", TimeSpan.FromMilliseconds(20)), Is.EqualTo("2"));
        Assert.That(() => Database.HashExists("cc:fields", "b"), Is.False.After(WaitMs, 5));
        Assert.That((string?)Database.HashFieldGetAndDelete("cc:fields", "a"), Is.EqualTo("1"));
        Assert.That(() => Database.KeyExists("cc:fields"), Is.False.After(WaitMs, 5), "a field that was due may be removed a little later");
    }

    [Test]
    public void Newer_commands_of_the_old_types_work()
    {
        Database.KeyDelete(["cc:l1", "cc:l2", "cc:copy", "cc:geo", "cc:zz", "cc:store"]);
        Assert.That((string?)Database.StringSetAndGet("cc:s", "1", TimeSpan.FromMinutes(1)), Is.Null);
        Assert.That((string?)Database.StringGetSetExpiry("cc:s", TimeSpan.FromMinutes(5)), Is.EqualTo("1"));
        Assert.That(Database.KeyExpireTime("cc:s"), Is.GreaterThan(DateTime.UtcNow.AddMinutes(4)));
        Assert.That(Database.KeyCopy("cc:s", "cc:copy"));
        Assert.That((string?)Database.StringGetDelete("cc:copy"), Is.EqualTo("1"));
        Assert.That(Database.StringSet([new("cc:m1", "ohmytext"), new("cc:m2", "mynewtext")], When.Always, new Expiration(TimeSpan.FromMinutes(1))));
        Assert.That(Database.StringLongestCommonSubsequence("cc:m1", "cc:m2"), Is.EqualTo("mytext"));
        Assert.That(Database.StringLongestCommonSubsequenceWithMatches("cc:m1", "cc:m2").LongestMatchLength, Is.EqualTo(6));
        Database.ListRightPush("cc:l2", ["a", "b", "c"]);
        ListPopResult popped = Database.ListLeftPop(["cc:l1", "cc:l2"], 2);
        Assert.That(((string?)popped.Key, popped.Values.Length), Is.EqualTo(("cc:l2", 2)));
        Assert.That((string?)Database.ListMove("cc:l2", "cc:l1", ListSide.Left, ListSide.Right), Is.EqualTo("c"));
        Assert.That(Database.ListPosition("cc:l1", "c"), Is.Zero);
        Database.GeoAdd("cc:geo", 13.361389, 38.115556, "Palermo");
        Database.GeoAdd("cc:geo", 15.087269, 37.502669, "Catania");
        GeoRadiusResult[] near = Database.GeoSearch("cc:geo", 15, 37, new GeoSearchCircle(100, GeoUnit.Kilometers));
        Assert.That((near.Single().Member, near[0].Distance), Is.EqualTo(((RedisValue)"Catania", 56.4413)));
        Database.SortedSetAdd("cc:zz", [new("a", 1), new("b", 2.5), new("c", double.PositiveInfinity)]);
        Assert.That(Database.SortedSetScores("cc:zz", ["b", "none", "c"]), Is.EqualTo(new double?[] { 2.5, null, double.PositiveInfinity }));
        Assert.That(Database.SortedSetRangeAndStore("cc:zz", "cc:store", 0, 1), Is.EqualTo(2));
        Assert.That(Database.SortedSetPop(["cc:none", "cc:store"], 5).Entries.Select(static entry => entry.Score), Is.EqualTo(new[] { 1, 2.5 }));
    }

    [Test]
    public void What_an_operator_asks_theRestartable_is_answered()
    {
        Assert.That(Server.InfoRaw("everything"), Does.Contain("redis_version"));
        Assert.That(Server.Role(), Is.InstanceOf<Role.Master>());
        Assert.That(Server.DatabaseCount, Is.EqualTo(16));
        Assert.That(Server.CommandCount(), Is.Positive);
        Assert.That(Server.CommandGetKeys(["MSET", "a", "1", "b", "2"]), Is.EqualTo(new[] { "a", "b" }));
        Assert.That(Server.MemoryStats().ToDictionary(), Does.ContainKey("dataset.bytes"));
        Assert.That(Server.LatencyDoctor(), Is.Not.Empty);
        Assert.That(Server.SlowlogGet(), Is.Not.Null);
        Assert.That(Server.SubscriptionPatternCount(), Is.Zero);
    }
}
