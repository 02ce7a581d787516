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
}
