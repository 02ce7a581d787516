using Garnet.Server.Test.Net;

namespace Garnet.Server.Test;

/// <summary>store.C14: who has waited for longest for values on the tier has all of them together, however slow the disk is and however many wait behind him.</summary>
internal sealed class StepsInLineTests
{
    private const int Long = 4, LongBytes = 6 << 20;

    [TestCase("MGET")]
    [TestCase("EXEC")]
    [TestCase("EVAL")]
    [TestCase("BITOP")]
    public void Several_values_of_megabytes_come_together_though_each_takes_longer_than_it_is_kept(string how)
    {
        const string Script = "redis.call('INCR','n') for i=1,#KEYS do redis.call('APPEND',KEYS[i],'x') end return redis.call('GET','n')";
        using HangingStage stage = new(memoryBytes: 96 << 20, tierBytes: 128 << 20);
        string[] keys = [.. Enumerable.Range(0, Long).Select(static i => $"long{i}")];
        foreach (string key in keys) stage.Cold(key, new string(key[^1], LongBytes));
        using TestClient client = stage.Connect(), other = stage.Connect();
        stage.Medium.TakesMs = 900;
        if (how == "EXEC")
        {
            client.Call("MULTI");
            client.Call("INCR", "n");
            foreach (string key in keys) client.Call("APPEND", key, "x");
        }

        string reply = stage.Slowly(() => how switch
        {
            "MGET" => client.Call(["MGET", .. keys]),
            "EXEC" => client.Call("EXEC"),
            "EVAL" => client.Call(["EVAL", Script, "4", .. keys]),
            _ => client.Call(["BITOP", "OR", "all", .. keys]),
        });
        stage.Medium.TakesMs = 0;
        Assert.That(reply, Does.Not.Contain("ERR").And.Not.Contain("OOM"));
        Assert.That((stage.Figure("waits"), stage.Figure("refused")), Is.EqualTo((0, 0)));
        string end = how is "EXEC" or "EVAL" ? $"{LongBytes + 1}" : $"{LongBytes}";
        foreach (string key in keys) Assert.That(other.Call("STRLEN", key), Is.EqualTo(end), key);
    }

    [Test]
    public void More_than_half_of_the_memory_in_one_step_is_refused_before_anything_changes()
    {
        using HangingStage stage = new(memoryBytes: 32 << 20, tierBytes: 128 << 20);
        string[] keys = [.. Enumerable.Range(0, Long).Select(static i => $"long{i}")];
        foreach (string key in keys) stage.Cold(key, new string('x', LongBytes));
        using TestClient client = stage.Connect();
        client.Call("MULTI");
        client.Call("INCR", "n");
        foreach (string key in keys) client.Call("STRLEN", key);
        foreach (string key in keys) client.Call("GETRANGE", key, "0", "1");
        Assert.That(client.Call("EXEC"), Does.Contain("OOM the command names too many values on the tier"));
        Assert.That(client.Call("EXISTS", "n"), Is.EqualTo("0"));
        Assert.That(client.Call("GETRANGE", keys[0], "0", "1"), Is.EqualTo("xx"), "one is read however long it is");
    }

    [Test]
    public void Many_clients_that_each_name_many_keys_are_served_one_after_the_other_and_none_holds_the_core()
    {
        const int Keys = 6000, Bytes = 2000, Clients = 40, AtOnce = 800;
        using HangingStage stage = new(memoryBytes: 16 << 20, tierBytes: 64 << 20);
        string value = new('v', Bytes);
        for (int i = 0; i < Keys; i++) Assert.That(stage.Other.Call("SET", $"key{i}", value), Is.EqualTo("OK"));
        for (int i = 0; i < Keys; i++) stage.Other.Call("TIER.DEMOTE", $"key{i}");
        Random random = new(1);
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => stage.Connect())];
        stage.Medium.TakesMs = 2;
        foreach (TestClient client in clients) client.Send(["MGET", .. Enumerable.Range(0, AtOnce).Select(_ => $"key{random.Next(Keys)}")]);
        foreach (TestClient client in clients)
        {
            string reply = stage.Slowly(client.Read);
            Assert.That(reply.Count(static c => c == 'v'), Is.EqualTo(AtOnce * Bytes), reply[..Math.Min(reply.Length, 200)]);
        }

        stage.Medium.TakesMs = 0;
        Assert.That((stage.Figure("waits"), stage.Figure("refused")), Is.EqualTo((0, 0)));
        foreach (TestClient client in clients) client.Dispose();
    }

    // Each is at his own place in it, and begins anew whenever he was put off: reading ahead that one has begun goes on whatever the others lack meanwhile.
    [TestCase("set", 2, "SMEMBERS", "key")]
    [TestCase("set", 4, "SUNION", "key", "small")]
    [TestCase("hash", 4, "HGETALL", "key")]
    public void Several_walks_through_one_collection_take_hardly_longer_than_one(string kind, int clients, params string[] command)
    {
        const int Entries = 7500, TakesMs = 50;
        using HangingStage stage = new();
        stage.Fill(kind, Entries);
        if (kind == "set") stage.Other.Call("SADD", "small", "one");
        stage.Demote("key");
        stage.Medium.TakesMs = TakesMs;
        long alone = Passes(stage, command, 1, Entries), together = Passes(stage, command, clients, Entries);
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine($"alone {alone} ms, {clients} together {together} ms");
        Assert.That((together <= 2 * alone, stage.Figure("waits")), Is.EqualTo((true, 0)), $"{together} ms, alone {alone}");
    }

    private static long Passes(HangingStage stage, string[] command, int clients, int entries)
    {
        stage.Clock.Advance(HangingStage.TimeoutMs); // what was read before has gone
        stage.Other.Call("PING");
        TestClient[] all = [.. Enumerable.Range(0, clients).Select(_ => stage.Connect())];
        long from = stage.Clock.MonotonicUs;
        foreach (TestClient client in all) client.Send(command);
        foreach (TestClient client in all) Assert.That(stage.Slowly(client.Read).Split("name ").Length, Is.GreaterThan(entries));
        foreach (TestClient client in all) client.Dispose();
        return (stage.Clock.MonotonicUs - from) / 1000;
    }

    [TestCase("EXISTS")]
    [TestCase("UNLINK")]
    public void Values_that_others_read_are_not_counted_for_who_needs_to_know_that_they_are_there(string command)
    {
        const int Keys = 4000, Bytes = 4000; // twice as much as one step may need
        using HangingStage stage = new(memoryBytes: 24 << 20);
        string value = new('v', Bytes);
        string[] keys = [.. Enumerable.Range(0, Keys).Select(static i => $"key{i}")];
        foreach (string key in keys) stage.Other.Call("SET", key, value);
        foreach (string key in keys) stage.Other.Call("TIER.DEMOTE", key);
        using TestClient client = stage.Connect();
        TestClient[] others = [.. Enumerable.Range(0, 4).Select(_ => stage.Connect())];
        stage.Medium.TakesMs = 50;
        for (int i = 0; i < others.Length; i++) others[i].Send(["MGET", .. keys[(i * Keys / 4)..((i + 1) * Keys / 4)]]);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        client.Send([command, .. keys]);
        Assert.That(stage.Slowly(client.Read), Is.EqualTo($"{Keys}"));
        foreach (TestClient other in others) Assert.That(stage.Slowly(other.Read), Does.Not.Contain("OOM").And.Not.Contain("ERR"));
        stage.Medium.TakesMs = 0;
        Assert.That(stage.Figure("waits"), Is.EqualTo(0));
        foreach (TestClient other in others) other.Dispose();
    }

    // More than is kept of all that wait: each has to read most of it again once he is the first, and that is no reason to have a core wait.
    [Test]
    public void Walks_through_several_large_collections_come_one_after_the_other_and_none_holds_the_core()
    {
        const int Collections = 6, Fields = 2500, Bytes = 4000;
        using HangingStage stage = new(memoryBytes: 64 << 20, tierBytes: 128 << 20);
        string value = new('v', Bytes);
        for (int i = 0; i < Collections; i++)
        {
            for (int field = 0; field < Fields; field += 50)
                stage.Other.Call(["HSET", $"key{i}", .. Enumerable.Range(field, 50).SelectMany(name => (string[])[$"{name}", value])]);
            stage.Demote($"key{i}");
        }
        TestClient[] clients = [.. Enumerable.Range(0, Collections).Select(_ => stage.Connect())];
        stage.Medium.TakesMs = 50;
        for (int i = 0; i < Collections; i++) clients[i].Send("HVALS", $"key{i}");
        foreach (TestClient client in clients) Assert.That(stage.Slowly(client.Read), Has.Length.EqualTo((Fields * (Bytes + 1)) + 1));
        stage.Medium.TakesMs = 0;
        Assert.That((stage.Figure("waits"), stage.Figure("refused")), Is.EqualTo((0, 0)));
        foreach (TestClient client in clients) client.Dispose();
    }

    [Test]
    public void What_somebody_needs_does_not_stand_behind_what_a_walk_reads_ahead()
    {
        const int Fields = 6000, Bytes = 4000, TakesMs = 100;
        using HangingStage stage = new(memoryBytes: 64 << 20);
        string value = new('v', Bytes);
        for (int field = 0; field < Fields; field += 50)
            stage.Other.Call(["HSET", "key", .. Enumerable.Range(field, 50).SelectMany(name => (string[])[$"{name}", value])]);
        stage.Demote("key");
        for (int i = 0; i < 10; i++) stage.Cold($"other{i}");
        using TestClient client = stage.Connect(), other = stage.Connect();
        stage.Medium.TakesMs = TakesMs;
        long slowest = 0;
        client.Send("HVALS", "key");
        Task<string> walk = Task.Run(client.Read);
        for (int i = 0; i < 10; i++)
        {
            Eventually.Holds(() => stage.Medium.Kept >= 64 || walk.IsCompleted || Passes(stage));
            long from = stage.Clock.MonotonicUs;
            other.Send("GET", $"other{i}");
            Eventually.Holds(() => other.HasReply || Passes(stage));
            Assert.That(other.Read(), Is.EqualTo("value"));
            slowest = Math.Max(slowest, (stage.Clock.MonotonicUs - from) / 1000);
        }
        Assert.That(stage.Slowly(() => walk.Result), Has.Length.EqualTo((Fields * (Bytes + 1)) + 1));
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine($"{slowest} ms");
        Assert.That(slowest, Is.InRange(TakesMs, 3 * TakesMs));
    }

    // Time goes on where all that was asked for waits for it; the server has a look each time.
    private static bool Passes(HangingStage stage)
    {
        if (stage.Medium.Kept == stage.Medium.UnderWay)
            stage.Clock.Advance(50);
        stage.Other.Call("PING");
        return false;
    }
}
