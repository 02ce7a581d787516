using Garnet.Server.Test.Net;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>A server whose tier's disk hangs: only commands on what lies there are hurt, and for as long as tier-read-timeout says.</summary>
internal sealed class HangingDiskTests
{
    private const int TimeoutMs = 10_000, Large = 3_000_000;
    private const string Why = "the device has not answered";
    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-hang").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    // One reactor: whoever is served while another waits is served by the same thread.
    private sealed class Stage : IDisposable
    {
        private readonly EmbeddedServer _server;

        public Stage(string path)
        {
            _server = new EmbeddedServer(clock: Clock, adjust: settings =>
            {
                settings.Network.ReactorThreads = 1;
                settings.Memory.MaxMemoryBytes = 64 << 20;
                settings.Tier.Promotion = TierPromotion.No;
                (settings.Tier.Path, settings.Tier.SizeBytes) = (path, 64 << 20);
                settings.Tier.Before = disk => Medium = new HangingMedium(disk, Clock);
            });
            Other = Connect();
        }

        public TestClock Clock { get; } = new();

        public HangingMedium Medium { get; private set; } = null!;

        public TestClient Other { get; }

        public TestClient Connect() => new(_server.Server.Port);

        public long Records => _server.Server.Store.Figures().Tier!.Records;

        public long Figure(string name) => _server.Server.Store.Figures().Tier is { } tier ? name switch
        {
            "owed" => tier.OwedReads,
            "late" => tier.LateReads,
            "refused" => tier.RefusedReads,
            "waits" => tier.Waits,
            "postponed" => tier.Postponed,
            _ => throw new ArgumentException(name),
        } : -1;

        public void Cold(string key, string value = "value")
        {
            Assert.That(Other.Call("SET", key, value), Is.EqualTo("OK"));
            Demote(key);
        }

        public void Fill(string kind, int entries)
        {
            string filler = new('v', 60);
            IEnumerable<string> names = Enumerable.Range(0, entries).Select(static i => $"name {i}");
            Other.Call(kind switch
            {
                "hash" => ["HSET", "key", .. names.SelectMany(name => (string[])[name, filler])],
                "set" => ["SADD", "key", .. names.Select(name => name + filler)],
                "sorted" => ["ZADD", "key", .. names.Select(static (name, i) => (string[])[$"{i * 7919 % 1000}", name]).SelectMany(static pair => pair)],
                "list" => ["RPUSH", "key", .. names],
                _ => ["XGROUP", "CREATE", "key", "group", "0", "MKSTREAM"],
            });
            if (kind == "stream") Other.Pipeline(1, [.. names.Select(name => (string[])["XADD", "key", "*", name, filler])]);
        }

        public void Demote(string key) => Assert.That(Other.Call("TIER.DEMOTE", key), Is.Not.EqualTo("0").And.Not.StartsWith("ERR"), key);

        public void Hang(params string[] read)
        {
            Medium.HangWhatIsReadBy(() => Other.Call(read));
            Clock.Advance(TimeoutMs / 2); // what was read is kept for a moment
            for (int i = 0; i < 3; i++) Other.Call("PING");
        }

        /// <summary>The command waits for the disk, and whoever else asks is answered.</summary>
        public void ExpectOthersServed(int waiting = 1)
        {
            Eventually.Holds(() => Medium.Kept >= waiting);
            Assert.That(Other.Call("PING"), Is.EqualTo("PONG"));
            Assert.That(Other.Call("GET", "well"), Is.EqualTo("value"));
        }

        /// <summary>Runs this while the clock goes on as far as the disk lets whoever asks wait.</summary>
        public T Slowly<T>(Func<T> call)
        {
            const int StepMs = 50;
            Task<T> answer = Task.Run(call);
            Eventually.Holds(() =>
            {
                if (Medium.Kept > 0) Clock.Advance(StepMs);
                return answer.IsCompleted;
            });
            return answer.Result;
        }

        public void Dispose()
        {
            Medium.TakesMs = 0;
            Medium.Mend();
            Eventually.Holds(() => Other.Call("PING") == "PONG" && Figure("owed") == 0 && Medium.Kept == 0);
            Other.Dispose();
            _server.Dispose();
        }
    }

    private Stage Begin()
    {
        Stage stage = new(_path);
        stage.Other.Call("SET", "filler", new string('x', 4096)); // a page between what hangs and what does not
        stage.Cold("well");
        stage.Cold("filler", new string('x', 8192));
        return stage;
    }

    [Test]
    public void A_pipeline_has_its_error_in_its_place_when_the_time_is_over_and_others_are_served_meanwhile()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("GET", "hung");
        client.Send("SET", "memory", "1");
        client.Send("GET", "well");
        stage.ExpectOthersServed();
        Assert.That(stage.Other.Call("EXISTS", "memory"), Is.EqualTo("0"), "what stands behind it waits for it");
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.StartWith("ERR").And.Contain(Why));
        Assert.That((client.Read(), client.Read()), Is.EqualTo(("OK", "value")));
        Assert.That(stage.Other.Call("INFO", "tiering"), Does.Contain("tier_owed_reads:1\r\n").And.Contain("tier_late_reads:1\r\n"));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("GET", "hung") == "value");
        Assert.That(stage.Other.Call("INFO", "tiering"), Does.Contain("tier_owed_reads:0\r\n"));
    }

    [Test]
    public void A_reply_that_is_to_be_skipped_is_so_after_the_disk_has_been_waited_for([Values] bool comes)
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("CLIENT", "REPLY", "SKIP");
        client.Send("GET", "hung");
        client.Send("ECHO", "next");
        stage.ExpectOthersServed();
        if (comes)
            stage.Medium.Mend();
        else
            stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Is.EqualTo("next"));
        Assert.That(client.Call("GET", "well"), Is.EqualTo("value"));
    }

    [Test]
    public void A_client_that_goes_meanwhile_leaves_nothing_behind()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using (TestClient client = stage.Connect())
        {
            client.Send("GET", "hung");
            stage.ExpectOthersServed();
        }

        stage.Clock.Advance(TimeoutMs);
        Eventually.Holds(() => stage.Figure("owed") == 1);
        Assert.That(stage.Other.Call("GET", "well"), Is.EqualTo("value"));
    }

    [Test]
    public void A_transaction_and_a_script_have_the_error_of_the_key_and_no_more()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("MULTI");
        client.Send("SET", "memory", "1");
        client.Send("GET", "hung");
        client.Send("GET", "well");
        client.Send("EXEC");
        stage.ExpectOthersServed();
        stage.Clock.Advance(TimeoutMs);
        Assert.That((client.Read(), client.Read(), client.Read(), client.Read()), Is.EqualTo(("OK", "QUEUED", "QUEUED", "QUEUED")));
        Assert.That(client.Read(), Does.Contain("OK").And.Contain(Why).And.Contain("value"));
        Assert.That(client.Call("EVAL", "return redis.call('GET', KEYS[1])", "1", "hung"), Does.Contain(Why), "at once: the disk owes it");
        Assert.That(client.Call("EVAL", "return redis.call('GET', 'well')", "0"), Is.EqualTo("value"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    // The thread is the script's: nobody is served by it for as long.
    [Test]
    public void A_key_that_a_script_does_not_declare_is_waited_for_for_a_second()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        long before = stage.Clock.MonotonicUs;
        Assert.That(stage.Other.Call("EVAL", "return redis.call('GET', 'hung')", "0"), Does.Contain(Why));
        Assert.That((stage.Clock.MonotonicUs - before) / 1000, Is.InRange(1000, TimeoutMs - 1));
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
    }

    // Beyond the second, and within tier-read-timeout.
    [Test]
    public void What_a_script_has_not_waited_for_is_answered_to_whoever_can_be_put_off()
    {
        const int Keys = 20;
        using Stage stage = Begin();
        for (int i = 0; i < Keys; i++) stage.Cold($"slow {i}", new string('v', 3000));
        stage.Medium.TakesMs = 1100;
        Assert.That(stage.Other.Call("EVAL", "return redis.call('GET', 'slow 0')", "0"), Does.Contain(Why));
        using TestClient client = stage.Connect();
        string[][] asked = [.. Enumerable.Range(0, Keys).Select(static i => (string[])["STRLEN", $"slow {i}"])];
        Assert.That(stage.Slowly(() => client.Pipeline(1, asked)), Is.All.EqualTo("3000"));
        Assert.That((stage.Figure("late"), stage.Figure("owed")), Is.EqualTo((0, 0)));
    }

    // Root, directory and piece: each has to be read to know the next, and none of it is kept for as long as one read takes.
    [TestCase("hash", "HGET", "key", "name 7")]
    [TestCase("hash", "HGETALL", "key")]
    [TestCase("hash", "HMGET", "key", "name 1", "name 100", "name 200", "name 250")]
    [TestCase("hash", "DUMP", "key")]
    [TestCase("hash", "RENAME", "key", "other")]
    [TestCase("hash", "COPY", "key", "other")]
    [TestCase("hash", "HDEL", "key", "name 7")]
    [TestCase("set", "SMEMBERS", "key")]
    [TestCase("set", "SPOP", "key", "3")]
    [TestCase("set", "SUNIONSTORE", "other", "key", "key")]
    [TestCase("sorted", "ZRANGE", "key", "0", "-1")]
    [TestCase("sorted", "ZRANK", "key", "name 100")]
    [TestCase("sorted", "ZADD", "key", "5", "name 100")]
    [TestCase("list", "LRANGE", "key", "0", "-1")]
    [TestCase("list", "LINSERT", "key", "BEFORE", "name 150", "x")]
    [TestCase("list", "SORT", "key", "ALPHA", "LIMIT", "0", "5")]
    public void A_disk_that_takes_longer_than_a_second_for_each_read_answers_for_collections_too(string kind, params string[] command)
    {
        const int Entries = 300;
        using Stage stage = Begin();
        stage.Fill(kind, Entries);
        string[] twin = [.. command.Select(static word => word is "key" or "other" ? word + " twin" : word)];
        if (command[0] != "SPOP")
            stage.Other.Call("COPY", "key", "key twin");
        stage.Demote("key");
        stage.Medium.TakesMs = 1100;
        using TestClient client = stage.Connect();
        string reply = stage.Slowly(() => client.Call(command));
        stage.Medium.TakesMs = 0;
        if (command[0] is "SPOP")
            Assert.That(reply.Split("name"), Has.Length.EqualTo(4));
        else if (command[0] is "DUMP")
            Assert.That(client.Call("RESTORE", "again", "0", reply), Is.EqualTo("OK"));
        else
            Assert.That(reply.Trim('[', ']').Split(' '), Is.EquivalentTo(client.Call(twin).Trim('[', ']').Split(' ')));
        Assert.That(stage.Figure("late"), Is.Zero);
        if (command[0] != "RENAME") // what is left of the old name goes in the background
            Assert.That(stage.Figure("waits"), Is.Zero);
    }

    // Those that follow are fetched side by side, ever more of them: one after the other they would take as many reads as there are pieces.
    [TestCase("hash", "HGETALL", "key")]
    [TestCase("hash", "DUMP", "key")]
    [TestCase("hash", "COPY", "key", "other")]
    [TestCase("set", "SMEMBERS", "key")]
    [TestCase("set", "SUNIONSTORE", "other", "key")]
    [TestCase("sorted", "ZRANGE", "key", "0", "-1")]
    [TestCase("sorted", "ZRANGE", "key", "0", "-1", "REV")]
    [TestCase("list", "LRANGE", "key", "0", "-1")]
    [TestCase("list", "LPOS", "key", "name 4999", "RANK", "-1")]
    [TestCase("list", "LPOS", "key", "name 1", "RANK", "-1")]
    [TestCase("list", "SORT", "key", "ALPHA", "LIMIT", "0", "5")]
    [TestCase("list", "COPY", "key", "other")]
    [TestCase("stream", "XRANGE", "key", "-", "+")]
    public void A_command_over_all_of_a_large_collection_waits_for_the_disk_a_few_times(string kind, params string[] command)
    {
        const int Entries = 5000, TimesMax = 20;
        using Stage stage = Begin();
        stage.Fill(kind, Entries);
        stage.Demote("key");
        stage.Medium.TakesMs = 50;
        (long postponed, int reads) = (stage.Figure("postponed"), stage.Medium.Reads);
        using TestClient client = stage.Connect();
        Assert.That(stage.Slowly(() => client.Call(command)), Does.Not.StartWith("ERR").And.Not.EqualTo("0"));
        postponed = stage.Figure("postponed") - postponed;
        TestContext.Out.WriteLine($"{string.Join(' ', command)}: put off {postponed} times for {stage.Medium.Reads - reads} reads, waited {stage.Figure("waits")}");
        Assert.That((postponed <= TimesMax, stage.Figure("waits")), Is.EqualTo((true, 0)));
    }

    // What it names lies here and there, in some eighty pieces.
    [TestCase("hash", "HMGET", "key")]
    [TestCase("hash", "HDEL", "key")]
    [TestCase("hash", "HEXPIRE", "key", "100", "FIELDS", "100")]
    [TestCase("hash", "HTTL", "key", "FIELDS", "100")]
    [TestCase("set", "SMISMEMBER", "key")]
    [TestCase("set", "SADD", "key")]
    [TestCase("set", "SINTERCARD", "2", "key", "few")]
    [TestCase("sorted", "ZMSCORE", "key")]
    public void A_command_that_names_many_members_of_a_large_collection_waits_for_the_disk_a_few_times(string kind, params string[] command)
    {
        using Stage stage = Begin();
        stage.Fill(kind, 5000);
        string filler = kind == "set" ? new string('v', 60) : "";
        string[] names = [.. Enumerable.Range(0, 100).Select(i => $"name {i * 7919 % 5000}{filler}")];
        stage.Other.Call(["SADD", "few", .. names]);
        stage.Demote("key");
        stage.Medium.TakesMs = 50;
        long before = stage.Figure("postponed");
        Assert.That(stage.Slowly(() => stage.Other.Call(command[^1] == "few" ? command : [.. command, .. names])), Does.Not.StartWith("ERR"));
        Assert.That((stage.Figure("postponed") - before <= 4, stage.Figure("waits")), Is.EqualTo((true, 0)));
    }

    // It reads what it needs, and nothing else.
    [TestCase("hash", 2, "HGET", "key", "name 7")]
    [TestCase("list", 2, "LINDEX", "key", "2500")]
    [TestCase("sorted", 4, "ZRANK", "key", "name 7")]
    public void A_look_at_one_entry_of_a_large_collection_fetches_nothing_beside_it(string kind, int readsMax, params string[] command)
    {
        using Stage stage = Begin();
        stage.Fill(kind, 5000);
        stage.Demote("key");
        int reads = stage.Medium.Reads;
        Assert.That(stage.Other.Call(command), Is.Not.Empty);
        Assert.That(stage.Medium.Reads - reads, Is.InRange(1, readsMax));
    }

    // One behind the other they are no walk.
    [Test]
    public void Looks_here_and_there_in_a_large_collection_fetch_hardly_more_than_they_need()
    {
        const int Looks = 60, Entries = 5000;
        using Stage stage = Begin();
        stage.Fill("hash", Entries);
        stage.Demote("key");
        int reads = stage.Medium.Reads;
        Random random = new(3);
        for (int i = 0; i < Looks; i++) Assert.That(stage.Other.Call("HGET", "key", $"name {random.Next(Entries)}"), Is.Not.Empty);
        TestContext.Out.WriteLine($"{stage.Medium.Reads - reads} reads");
        Assert.That(stage.Medium.Reads - reads, Is.LessThanOrEqualTo(Looks));
    }

    // More than is kept, even for who waits: what was read first has left when the last is there. It must have an end.
    [Test]
    public void A_collection_that_is_larger_than_what_is_kept_is_read_in_place_in_the_end()
    {
        const int Fields = 3000;
        using Stage stage = Begin();
        string value = new('v', 4000);
        for (int i = 0; i < Fields; i++) stage.Other.Call("HSET", "key", $"name {i}", value);
        stage.Demote("key");
        long postponed = stage.Figure("postponed");
        Assert.That(stage.Other.Call("HVALS", "key"), Has.Length.EqualTo((Fields * (value.Length + 1)) + 1));
        TestContext.Out.WriteLine($"put off {stage.Figure("postponed") - postponed} times, waited {stage.Figure("waits")}");
        Assert.That(stage.Figure("waits"), Is.GreaterThan(0));
    }

    [TestCase("HGETALL")]
    [TestCase("HVALS")]
    public void A_script_over_all_of_a_large_collection_waits_for_the_disk_a_few_times(string command)
    {
        using Stage stage = Begin();
        stage.Fill("hash", 5000);
        stage.Demote("key");
        stage.Medium.TakesMs = 300;
        Assert.That(stage.Slowly(() => stage.Other.Call("EVAL", $"return #redis.call('{command}', KEYS[1])", "1", "key")), Is.EqualTo(command == "HVALS" ? "5000" : "10000"));
        Assert.That(stage.Figure("waits"), Is.InRange(1, 10));
    }

    // Nor for a second for each.
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('GET', 'hung ' .. i) end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('MGET', 'hung ' .. i, 'hung ' .. i + 1) end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('SCAN', '0', 'COUNT', '1000') end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('RANDOMKEY') end return redis.call('GET', 'memory')", "0")]
    [TestCase("EXEC")]
    public void A_script_and_a_transaction_wait_for_a_second_in_all(params string[] command)
    {
        using Stage stage = Begin();
        stage.Other.Call("SET", "memory", "in memory");
        for (int i = 1; i <= 51; i++) stage.Cold($"hung {i}", new string('v', 30_000)); // some in each of several segments
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        if (command[0] == "EXEC")
        {
            client.Call("MULTI");
            for (int i = 0; i < 20; i++) client.Call("RANDOMKEY");
            client.Call("GET", "memory");
        }

        long before = stage.Clock.MonotonicUs;
        Assert.That(client.Call(command), Does.EndWith("in memory").Or.EndWith("in memory]"));
        Assert.That((stage.Clock.MonotonicUs - before) / 1000, Is.InRange(1, 6000), "a second, and what it takes to compute, which the clock counts too; not a second for each, which are 20 and more");
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("PING") == "PONG" && stage.Figure("owed") == 0);
        stage.Clock.Advance(1000); // what was late is not asked again for a moment
        for (int i = 0; i < 3; i++) client.Call("PING");
        for (int i = 1; i <= 51; i++) Assert.That(client.Call("STRLEN", $"hung {i}"), Is.EqualTo("30000"), "whoever asks next has it");
    }

    [Test]
    public void Who_stops_a_script_that_waits_for_the_disk_is_heard_behind_the_command_that_has_waited()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        stage.Other.Call("CONFIG", "SET", "busy-reply-threshold", "200");
        using TestClient client = stage.Connect(), stopper = stage.Connect();
        Assert.That((client.Call("PING"), stopper.Call("PING")), Is.EqualTo(("PONG", "PONG")));
        int asked = 0;
        stage.Medium.Waiting = () =>
        {
            if (Interlocked.Exchange(ref asked, 1) == 0)
                stopper.Send("SCRIPT", "KILL");
        };
        Assert.That(client.Call("EVAL", "redis.pcall('GET', 'hung') return 'to its end'", "0"), Does.Contain("killed"));
        Assert.That(stopper.Read(), Is.EqualTo("OK"));
    }

    [Test]
    public void A_random_key_takes_no_longer_than_the_first_read_that_is_late()
    {
        using Stage stage = Begin();
        stage.Other.Call("SET", "memory", "1");
        for (int i = 0; i < 100; i++) stage.Cold($"hung {i}", new string('v', 1000));
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        client.Send("RANDOMKEY");
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() => stage.Medium.Kept > 0 || reply.IsCompleted);
        stage.Clock.Advance(TimeoutMs);
        Eventually.Holds(() => reply.IsCompleted);
        Assert.That(reply.Result, Does.Not.Contain(Why));
    }

    [TestCase("HGETALL", "hash")]
    [TestCase("HGET", "hash", "name 7")]
    [TestCase("HSET", "hash", "name 7", "changed")]
    [TestCase("GET", "large")]
    [TestCase("SETRANGE", "large", "5", "changed")]
    [TestCase("TIER.PROMOTE", "large")]
    [TestCase("COPY", "hash", "other")]
    [TestCase("DUMP", "hash")]
    public void Whatever_is_asked_of_it_ends_in_an_error_and_changes_nothing(params string[] command)
    {
        using Stage stage = Begin();
        stage.Other.Call("SET", "large", new string('l', Large));
        for (int i = 0; i < 2000; i++) stage.Other.Call("HSET", "hash", $"name {i}", $"value {i}");
        string key = command[1];
        string before = stage.Other.Call(key == "hash" ? ["HGETALL", key] : ["GET", key]);
        stage.Demote(key);
        stage.Hang(key == "hash" ? ["HGETALL", key] : ["GET", key]);
        using TestClient client = stage.Connect();
        client.Send(command);
        stage.ExpectOthersServed();
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.Contain(Why));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call(key == "hash" ? ["HGETALL", key] : ["GET", key]) == before);
    }

    [TestCase("DEL", false)]
    [TestCase("UNLINK", false)]
    [TestCase("DEL", true)]
    public void Of_several_keys_that_are_to_go_none_does_where_one_cannot_be_read(string command, bool isScript)
    {
        using Stage stage = Begin();
        stage.Other.Call("MSET", "first", "1", "last", "1");
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        string[] remove = isScript ? ["EVAL", $"return redis.call('{command}', 'first', 'well', 'hung', 'last')", "0"] : [command, "first", "well", "hung", "last"];
        using TestClient client = stage.Connect();
        client.Send(remove);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        if (!isScript)
            stage.Clock.Advance(TimeoutMs); // a script has waited for a second by itself
        Assert.That(client.Read(), Does.Contain(Why));
        Assert.That(client.Call("MGET", "first", "well", "last"), Is.EqualTo("[1 value 1]"));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call(remove) == "4");
    }

    [TestCase("RPUSH", "LMOVE", "from", "hung", "LEFT", "LEFT")]
    [TestCase("SADD", "SMOVE", "from", "hung", "1")]
    [TestCase("SADD", "SUNIONSTORE", "hung", "from")]
    [TestCase("ZADD", "ZRANGESTORE", "hung", "from", "0", "-1")]
    [TestCase("RPUSH", "SORT", "from", "STORE", "hung")]
    [TestCase("SET", "RENAME", "from", "hung")]
    [TestCase("SET", "COPY", "from", "hung", "REPLACE")]
    [TestCase("SET", "BITOP", "NOT", "hung", "from")]
    [TestCase("SET", "MSET", "from", "2", "hung", "2")]
    public void Of_two_keys_that_are_to_change_none_does_where_one_cannot_be_read(string fill, params string[] command)
    {
        using Stage stage = Begin();
        foreach (string key in (string[])["from", "hung"])
            stage.Other.Call(fill == "ZADD" ? [fill, key, "1", "1"] : [fill, key, "1"]);
        string before = stage.Other.Call("DUMP", "from"), hung = stage.Other.Call("DUMP", "hung");
        stage.Demote("hung");
        stage.Hang("DUMP", "hung");
        using TestClient client = stage.Connect();
        client.Send(["EVAL", "return redis.call(unpack(ARGV))", "0", .. command]);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.Contain(Why));
        Assert.That(client.Call("DUMP", "from"), Is.EqualTo(before));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("DUMP", "hung") == hung);
    }

    [TestCase("KEYS", "*")]
    [TestCase("SCAN", "0", "COUNT", "1000")]
    [TestCase("RANDOMKEY")]
    public void A_walk_over_all_keys_ends(params string[] command)
    {
        using Stage stage = Begin();
        for (int i = 0; i < 100; i++) stage.Other.Call("SET", $"hung {i}", new string('v', 1000));
        for (int i = 0; i < 100; i++) stage.Demote($"hung {i}");
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        client.Send(command);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() =>
        {
            stage.Clock.Advance(TimeoutMs);
            return reply.IsCompleted;
        });
        TestContext.Out.WriteLine(reply.Result[..Math.Min(reply.Result.Length, 200)]);
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Everything_can_be_flushed_and_written_anew_while_it_hangs()
    {
        using Stage stage = Begin();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("GET", "hung");
        stage.ExpectOthersServed();
        Assert.That(stage.Other.Call("FLUSHALL"), Is.EqualTo("OK"));
        Assert.That(stage.Other.Call("SET", "hung", "new"), Is.EqualTo("OK"));
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Is.EqualTo("new"));
        Assert.That(stage.Other.Call("DBSIZE"), Is.EqualTo("1"));
    }

    [Test]
    public void The_pieces_of_a_collection_that_was_deleted_meanwhile_are_gone_when_it_answers()
    {
        using Stage stage = Begin();
        for (int i = 0; i < 2000; i++) stage.Other.Call("HSET", "hash", $"name {i}", $"value {i}");
        long others = stage.Records;
        stage.Demote("hash");
        stage.Other.Call("HSET", "hash", "name 0", "changed"); // its head is in memory
        stage.Hang("HGETALL", "hash");
        Assert.That(stage.Other.Call("DEL", "hash"), Is.EqualTo("1"));
        Eventually.Holds(() => stage.Figure("owed") > 0 || stage.Medium.Kept > 0);
        Assert.That((stage.Other.Call("PING"), stage.Other.Call("GET", "well")), Is.EqualTo(("PONG", "value")));
        stage.Medium.Mend();
        Eventually.Holds(() =>
        {
            stage.Clock.Advance(1000);
            return stage.Records == others;
        });
    }

    [Test]
    public void A_disk_that_takes_no_writes_keeps_nobody_from_anything_but_room()
    {
        using Stage stage = Begin();
        stage.Other.Call("SET", "key", "value");
        stage.Other.Call("CONFIG", "SET", "tier-read-timeout", "200");
        stage.Medium.HangAll();
        using TestClient client = stage.Connect();
        client.Send("TIER.DEMOTE", "key");
        Eventually.Holds(() => stage.Other.Call("INFO", "tiering").Contains("tier_write_ms:", StringComparison.Ordinal)
            && !stage.Other.Call("INFO", "tiering").Contains("tier_write_ms:0\r\n", StringComparison.Ordinal));
        Assert.That((stage.Other.Call("SET", "other", "1"), stage.Other.Call("GET", "key")), Is.EqualTo(("OK", "value")));
        Assert.That(stage.Other.Call("FLUSHALL"), Is.EqualTo("OK"));
        Assert.That(stage.Other.Call("SET", "key", "new"), Is.EqualTo("OK"));
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() => reply.IsCompleted);
        Assert.That(reply.Result, Does.StartWith("ERR").And.Contain("does not answer a write"));
        Assert.That(stage.Other.Call("GET", "key"), Is.EqualTo("new"));
    }
}
