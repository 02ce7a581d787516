using System.Collections.Concurrent;
using Garnet.Server.Commands;
using Garnet.Server.Test.Admission;
using Garnet.Server.Test.Net;

namespace Garnet.Server.Test;

/// <summary>A server whose tier's disk is only slow: what lies there is answered, side by side as far as it can be, and nobody else is held up.</summary>
internal sealed class SlowDiskTests
{
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
        using HangingStage stage = new();
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
    [TestCase("stream", "XREVRANGE", "key", "+", "-")]
    [TestCase("hash", "HRANDFIELD", "key", "-100")]
    [TestCase("set", "SRANDMEMBER", "key", "30")]
    public void A_command_over_all_of_a_large_collection_waits_for_the_disk_a_few_times(string kind, params string[] command)
    {
        const int Entries = 5000, TimesMax = 20;
        using HangingStage stage = new();
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
    [TestCase("set", "SREM", "key")]
    [TestCase("set", "SADD", "key")]
    [TestCase("set", "SINTERCARD", "2", "key", "few")]
    [TestCase("sorted", "ZMSCORE", "key")]
    [TestCase("sorted", "GEOPOS", "key")]
    [TestCase("sorted", "GEOHASH", "key")]
    [TestCase("sorted", "ZREM", "key")]
    [TestCase("sorted", "ZADD", "key")]
    public void A_command_that_names_many_members_of_a_large_collection_waits_for_the_disk_a_few_times(string kind, params string[] command)
    {
        using HangingStage stage = new();
        stage.Fill(kind, 5000);
        string filler = kind == "set" ? new string('v', 60) : "";
        string[] names = [.. Enumerable.Range(0, 100).Select(i => $"name {i * 7919 % 5000}{filler}")];
        stage.Other.Call(["SADD", "few", .. names]);
        stage.Demote("key");
        stage.Medium.TakesMs = 50;
        long before = stage.Figure("postponed");
        string[] given = command[^1] == "few" ? [] : command[0] == "ZADD" ? [.. names.SelectMany(static (name, i) => (string[])[$"{i * 37}", name])] : names;
        Assert.That(stage.Slowly(() => stage.Other.Call([.. command, .. given])), Does.Not.StartWith("ERR"));
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times");
        Assert.That((stage.Figure("postponed") - before <= 4, stage.Figure("waits")), Is.EqualTo((true, 0)));
    }

    [TestCase(1000, 10)]
    [TestCase(20_000, 40)]
    public void Names_of_more_pieces_than_are_fetched_at_once_take_a_few_times_more(int names, int timesMax)
    {
        const int Entries = 60_000;
        using HangingStage stage = new();
        string filler = new('v', 40);
        for (int from = 0; from < Entries; from += 5000)
            stage.Other.Call(["HSET", "key", .. Enumerable.Range(from, 5000).SelectMany(i => (string[])[$"name {i}", filler])]);
        stage.Demote("key");
        (long before, int reads) = (stage.Figure("postponed"), stage.Medium.Reads);
        string reply = stage.Other.Call(["HMGET", "key", .. Enumerable.Range(0, names).Select(static i => $"name {i * 7919 % Entries}")]);
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times, {stage.Medium.Reads - reads} reads");
        Assert.That((reply.Split(filler).Length - 1, stage.Figure("postponed") - before <= timesMax), Is.EqualTo((names, true)));
    }

    // As many pieces as are fetched at once, and more.
    [TestCase("hash", 0, "HGETDEL", "key", "FIELDS", "1000")]
    [TestCase("hash", 0, "HGETEX", "key", "EX", "1000", "FIELDS", "1000")]
    [TestCase("hash", 0, "HSETEX", "key", "EX", "1000", "FIELDS", "1000")]
    [TestCase("hash", 0, "HSET", "key")]
    [TestCase("hash", 0, "HDEL", "key")]
    [TestCase("hash", 0, "HTTL", "key", "FIELDS", "1000")]
    [TestCase("hash", 0, "HPEXPIRE", "key", "100000", "FIELDS", "1000")]
    [TestCase("sorted", 0, "GEOPOS", "key")]
    [TestCase("sorted", 2, "ZREM", "key")]
    [TestCase("sorted", 40, "ZADD", "key")]
    [TestCase("sorted", 4, "ZPEXPIRE", "key", "100000", "MEMBERS", "1000")]
    [TestCase("set", 0, "SDIFF", "few", "key")]
    [TestCase("set", 0, "SINTER", "key", "few")]
    [TestCase("set", 0, "SINTER", "key", "most")]
    public void A_thousand_names_are_fetched_with_hardly_a_wait(string kind, int waitsMax, params string[] command)
    {
        const int Entries = 30_000;
        using HangingStage stage = new();
        string filler = new('v', 50);
        for (int from = 0; from < Entries; from += 5000)
        {
            IEnumerable<int> some = Enumerable.Range(from, 5000);
            stage.Other.Call(kind switch
            {
                "hash" => ["HSET", "key", .. some.SelectMany(i => (string[])[$"name {i}", filler])],
                "sorted" => ["ZADD", "key", .. some.SelectMany(i => (string[])[$"{i}", $"name {i}{filler}"])],
                _ => ["SADD", "key", .. some.Select(i => $"name {i}{filler}")],
            });
            if (command[^1] == "most")
                stage.Other.Call(["SADD", "most", .. some.Where(static i => i % 3 == 0).Select(i => $"name {i}{filler}")]);
        }

        string[] names = [.. Enumerable.Range(0, 1000).Select(i => $"name {i * 7919 % Entries}{(kind == "hash" ? "" : filler)}")];
        if (kind == "set")
            stage.Other.Call(["SADD", "few", .. names]);
        stage.Demote("key");
        if (command[^1] == "most")
            stage.Demote("most");
        stage.Medium.TakesMs = 20;
        (long before, long waits) = (stage.Figure("postponed"), stage.Figure("waits"));
        string[] given = command[0] switch
        {
            "HSET" or "HSETEX" => [.. names.SelectMany(static name => (string[])[name, "new"])],
            "ZADD" => [.. names.SelectMany(static (name, i) => (string[])[$"{i * 37}", name])],
            "SDIFF" or "SINTER" => [],
            _ => names,
        };
        string reply = stage.Slowly(() => stage.Other.Call([.. command, .. given]));
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times, {stage.Figure("waits") - waits} waits, {reply[..Math.Min(60, reply.Length)]}");
        Assert.That(stage.Figure("waits") - waits, Is.AtMost(waitsMax));
    }

    // It is put off as a command is: its core serves others too.
    [Test]
    public void The_walk_for_entries_that_expire_waits_for_nothing()
    {
        const int Entries = 30_000;
        using HangingStage stage = new();
        for (int from = 0; from < Entries; from += 5000)
            stage.Other.Call(["HSET", "key", .. Enumerable.Range(from, 5000).SelectMany(i => (string[])[$"name {i}", new string('v', 50)])]);
        stage.Demote("key");
        stage.Medium.TakesMs = 1;
        (long waits, int reads) = (stage.Figure("waits"), stage.Medium.Reads);
        stage.Other.Call("HPEXPIRE", "key", "1000000", "FIELDS", "1", "name 7");
        Eventually.Holds(() => stage.Medium.Reads - reads > 350); // of some 430 pieces
        Assert.That(stage.Figure("waits"), Is.EqualTo(waits));
    }

    // Each visit may be put off so many times: what others were put off is no matter of it.
    [Test]
    public void Of_many_collections_with_times_none_is_waited_for_where_the_walk_stands()
    {
        const int Keys = 80, Entries = 300; // more than one visit may be put off
        using HangingStage stage = new();
        string filler = new('v', 60);
        for (int i = 0; i < Keys; i++)
        {
            stage.Other.Call(["HSET", $"hash {i}", .. Enumerable.Range(0, Entries).SelectMany(at => (string[])[$"name {at}", filler])]);
            stage.Demote($"hash {i}");
        }

        long waits = stage.Figure("waits");
        for (int i = 0; i < Keys; i++) stage.Other.Call("HPEXPIRE", $"hash {i}", "1000000", "FIELDS", "1", "name 7");
        long postponed = stage.Figure("postponed");
        AwaitWalks(stage);
        TestContext.Out.WriteLine($"put off {stage.Figure("postponed") - postponed} times, waited {stage.Figure("waits") - waits}");
        Assert.That(stage.Figure("waits"), Is.EqualTo(waits));
    }

    // What a walk has learned of a large collection holds for the next one, unless an entry is due earlier.
    [Test]
    public void Another_field_that_expires_does_not_have_all_of_its_hash_looked_at_again()
    {
        const int Entries = 30_000, More = 10;
        using HangingStage stage = new();
        for (int from = 0; from < Entries; from += 5000)
            stage.Other.Call(["HSET", "key", .. Enumerable.Range(from, 5000).SelectMany(i => (string[])[$"name {i}", new string('v', 50)])]);
        stage.Demote("key");
        stage.Other.Call("HPEXPIRE", "key", "1000000", "FIELDS", "1", "name 7");
        AwaitWalks(stage);
        int reads = stage.Medium.Reads;
        for (int i = 0; i < More; i++) stage.Other.Call("HPEXPIRE", "key", $"{2_000_000 - (i * 200_000)}", "FIELDS", "1", $"name {100 + i}");
        AwaitWalks(stage);
        TestContext.Out.WriteLine($"{stage.Medium.Reads - reads} reads");
        Assert.That(stage.Medium.Reads - reads, Is.AtMost(10 * More));
        stage.Other.Call("HPEXPIRE", "key", "1", "FIELDS", "1", "name 9");
        stage.Clock.Advance(100);
        Eventually.Holds(() => stage.Other.Call("HEXISTS", "key", "name 9") == "0" && stage.Medium.Reads - reads > 350, "what is due is found");
        Assert.That(stage.Other.Call("HGET", "key", "name 10"), Is.Not.Empty);
    }

    // The second of two that find something has begun behind the end of the first.
    private static void AwaitWalks(HangingStage stage)
    {
        string keys = stage.Other.Call("DBSIZE");
        for (int i = 0; i < 2; i++)
        {
            stage.Other.Call("HSET", "small", "field", "value");
            stage.Other.Call("HPEXPIRE", "small", "1", "FIELDS", "1", "field");
            stage.Clock.Advance(100);
            Eventually.Holds(() => stage.Other.Call("DBSIZE") == keys);
        }
    }

    // It reads what it needs, and nothing else.
    [TestCase("hash", 2, "HGET", "key", "name 7")]
    [TestCase("list", 2, "LINDEX", "key", "2500")]
    [TestCase("sorted", 4, "ZRANK", "key", "name 7")]
    [TestCase("stream", 2, "XREVRANGE", "key", "+", "-", "COUNT", "1")]
    [TestCase("hash", 20, "HRANDFIELD", "key")] // a piece is drawn until one is as full as it has to be
    [TestCase("set", 20, "SRANDMEMBER", "key")]
    [TestCase("set", 20, "SPOP", "key")]
    [TestCase("sorted", 20, "ZRANDMEMBER", "key")]
    public void A_look_at_one_entry_of_a_large_collection_fetches_nothing_beside_it(string kind, int readsMax, params string[] command)
    {
        using HangingStage stage = new();
        stage.Fill(kind, 5000);
        stage.Demote("key");
        int reads = stage.Medium.Reads;
        Assert.That(stage.Other.Call(command), Is.Not.Empty);
        Assert.That(stage.Medium.Reads - reads, Is.InRange(1, readsMax));
    }

    [Test]
    public void What_is_drawn_by_chance_is_another_each_time()
    {
        const string Script = "local seen, n = {}, 0 for i = 1, 50 do local one = redis.call('SRANDMEMBER', KEYS[1]) if not seen[one] then seen[one] = 1 n = n + 1 end end return n";
        using HangingStage stage = new();
        stage.Fill("set", 5000);
        Assert.That(int.Parse(stage.Other.Call("EVAL", Script, "1", "key")), Is.GreaterThan(40));
        Assert.That(Enumerable.Range(0, 50).Select(_ => stage.Other.Call("SRANDMEMBER", "key")).Distinct().Count(), Is.GreaterThan(40));
        Assert.That(stage.Other.Pipeline(50, ["SRANDMEMBER", "key"]).Distinct().Count(), Is.GreaterThan(40));
    }

    // One behind the other they are no walk.
    [Test]
    public void Looks_here_and_there_in_a_large_collection_fetch_hardly_more_than_they_need()
    {
        const int Looks = 60, Entries = 5000;
        using HangingStage stage = new();
        stage.Fill("hash", Entries);
        stage.Demote("key");
        int reads = stage.Medium.Reads;
        Random random = new(3);
        for (int i = 0; i < Looks; i++) Assert.That(stage.Other.Call("HGET", "key", $"name {random.Next(Entries)}"), Is.Not.Empty);
        TestContext.Out.WriteLine($"{stage.Medium.Reads - reads} reads");
        Assert.That(stage.Medium.Reads - reads, Is.LessThanOrEqualTo(Looks));
    }

    // More than is kept, even for who has waited for longest (half of the memory): what was read first has left when the last is there. It must have an end.
    [TestCase(6000, false)]
    [TestCase(10_000, true)]
    public void A_collection_that_is_larger_than_what_is_kept_is_read_in_place_in_the_end(int fields, bool isInPlace)
    {
        using HangingStage stage = new(memoryBytes: 64 << 20);
        string value = new('v', 4000);
        for (int i = 0; i < fields; i++) stage.Other.Call("HSET", "key", $"name {i}", value);
        stage.Demote("key");
        long postponed = stage.Figure("postponed");
        Assert.That(stage.Other.Call("HVALS", "key"), Has.Length.EqualTo((fields * (value.Length + 1)) + 1));
        TestContext.Out.WriteLine($"put off {stage.Figure("postponed") - postponed} times, waited {stage.Figure("waits")}");
        Assert.That(stage.Figure("waits") > 0, Is.EqualTo(isInPlace));
    }

    // Pieces of a collection that is gone have to be read to be removed: by the movers, not by whoever wants room meanwhile.
    [Test]
    public void Who_makes_room_does_not_wait_for_pieces_of_what_was_removed()
    {
        using HangingStage stage = new(memoryBytes: 24 << 20, tierBytes: 256 << 20);
        for (int i = 0; i < 4; i++)
        {
            stage.Fill("set", 20_000);
            stage.Demote("key");
            Assert.That(stage.Other.Call("RENAME", "key", $"key{i}"), Is.EqualTo("OK"));
            stage.Demote($"key{i}");
        }
        ConcurrentBag<string?> waiting = [];
        stage.Medium.Waiting = () => waiting.Add(Thread.CurrentThread.Name);
        stage.Medium.TakesMs = 50;
        Assert.That(stage.Slowly(() => stage.Other.Call("UNLINK", "key0", "key1", "key2", "key3")), Is.EqualTo("4"));
        string value = new('v', 100_000);
        for (int i = 0; i < 400; i++) Assert.That(stage.Slowly(() => stage.Other.Call("SET", $"other{i}", value)), Is.EqualTo("OK"));
        stage.Medium.TakesMs = 0;
        Assert.That(waiting.Distinct(), Has.None.StartsWith("reactor"));
        Assert.That(waiting, Is.Not.Empty, "movers do");
    }

    // Each piece stays until the command has run: who goes through ten times as much as memory is would take the machine's.
    [Test]
    public void A_command_that_goes_through_more_than_memory_could_hold_fails_and_harms_nobody()
    {
        const int Fields = 30_000; // 120 MB
        using HangingStage stage = new(memoryBytes: 24 << 20, tierBytes: 256 << 20);
        string value = new('v', 4000);
        for (int i = 0; i < Fields; i += 50)
            stage.Other.Call(["HSET", "key", .. Enumerable.Range(i, 50).SelectMany(name => (string[])[$"name {name}", value])]);
        stage.Demote("key");
        Assert.That(stage.Other.Call("HVALS", "key"), Does.StartWith("ERR").And.Contains("go through it in parts"));
        Assert.That(stage.Other.Call("RENAME", "key", "other"), Does.StartWith("ERR").Or.StartWith("OOM").Or.EqualTo("OK"));
        string name = stage.Other.Call("EXISTS", "key") == "1" ? "key" : "other";
        Assert.That(stage.Other.Call("HGET", name, "name 7"), Is.EqualTo(value));
        string cursor = "0";
        int seen = 0;
        do
        {
            string[] reply = stage.Other.Call("HSCAN", name, cursor, "COUNT", "500", "NOVALUES").Trim('[', ']').Split(' ', 2);
            cursor = reply[0];
            seen += reply[1].Split("name").Length - 1;
        }
        while (cursor != "0");
        Assert.That(seen, Is.GreaterThanOrEqualTo(Fields));
    }

    [TestCase("HGETALL")]
    [TestCase("HVALS")]
    public void A_script_over_all_of_a_large_collection_waits_for_the_disk_a_few_times(string command)
    {
        using HangingStage stage = new();
        stage.Fill("hash", 5000);
        stage.Demote("key");
        stage.Medium.TakesMs = 300;
        Assert.That(stage.Slowly(() => stage.Other.Call("EVAL", $"return #redis.call('{command}', KEYS[1])", "1", "key")), Is.EqualTo(command == "HVALS" ? "5000" : "10000"));
        Assert.That(stage.Figure("waits"), Is.InRange(1, 10));
    }

    // What a transaction needs is fetched before it takes its locks, all of it side by side.
    [TestCase(100, 50)]
    [TestCase(1000, 50)]
    [TestCase(100, 1100)]
    public void A_transaction_over_many_keys_is_put_off_once_and_holds_nobody_up(int keys, int takesMs)
    {
        using HangingStage stage = new();
        for (int i = 0; i < keys; i++) stage.Cold($"key {i}", $"{i} {new string('v', 500)}");
        stage.Medium.TakesMs = takesMs;
        using TestClient client = stage.Connect();
        client.Call("MULTI");
        for (int i = 0; i < keys; i++) client.Call(i % 3 == 0 ? ["APPEND", $"key {i}", "x"] : i % 3 == 1 ? ["GET", $"key {i}"] : ["MGET", $"key {i}", $"key {i / 2}"]);
        (long before, long waits) = (stage.Figure("postponed"), stage.Figure("waits"));
        string reply = stage.Slowly(() => client.Call("EXEC"));
        Assert.That(reply, Does.Not.Contain("ERR"));
        Assert.That((stage.Figure("postponed") - before <= 2, stage.Figure("waits") - waits), Is.EqualTo((true, 0)));
        stage.Medium.TakesMs = 0;
        for (int i = 0; i < keys; i++) Assert.That(stage.Other.Call("GET", $"key {i}"), Is.EqualTo($"{i} {new string('v', 500)}{(i % 3 == 0 ? "x" : "")}"));
    }

    [Test]
    public void A_transaction_is_fetched_ahead_beside_another_rule_of_what_is_at_hand()
    {
        const int Keys = 20;
        KeyGate gate = new();
        using HangingStage stage = new();
        for (int i = 0; i < Keys; i++) stage.Cold($"key {i}", new string('v', 500));
        stage.Server.Context.Hooks = new AdmissionHooks { Residency = gate, Ahead = stage.Server.Context.Hooks.Ahead };
        using TestClient client = stage.Connect();
        client.Call("MULTI");
        for (int i = 0; i < Keys; i++) client.Call("APPEND", $"key {i}", "x");
        client.Call("GET", "cold");
        stage.Medium.TakesMs = 20;
        long waits = stage.Figure("waits");
        string reply = stage.Slowly(() =>
        {
            client.Send("EXEC");
            Eventually.Holds(() => gate.Asked.Contains("0 cold"));
            gate.LetGo("cold");
            return client.Read();
        });
        Assert.That(reply, Is.EqualTo($"[{string.Join(' ', Enumerable.Repeat("501", Keys))} nil]"));
        Assert.That(stage.Figure("waits"), Is.EqualTo(waits), "nobody waited with locks held");
    }

    // What was there when it was watched is known, and a change is told: nothing is read of it.
    [Test]
    public void Keys_that_are_watched_need_not_be_fetched([Values] bool expires)
    {
        const int Keys = 20;
        using HangingStage stage = new();
        using TestClient client = stage.Connect();
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key {i}")];
        string[] time = expires ? ["PX", "1000000"] : [];
        foreach (string name in names) stage.Other.Call(["SET", name, new string('v', 500), .. time]);
        client.Call(["WATCH", .. names]);
        foreach (string name in names) stage.Demote(name);
        client.Call("MULTI");
        client.Call("SET", "other", "x");
        stage.Medium.TakesMs = 20;
        (long waits, int reads) = (stage.Figure("waits"), stage.Medium.Reads);
        Assert.That(stage.Slowly(() => client.Call("EXEC")), Is.EqualTo("[OK]"));
        Assert.That((stage.Figure("waits") - waits, stage.Medium.Reads - reads), Is.EqualTo((0, 0)));
    }
}
