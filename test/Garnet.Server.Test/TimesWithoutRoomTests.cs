using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Times of keys and of entries where memory is full: Redis refuses none of these changes for want of memory, and none may be done in part.</summary>
internal sealed class TimesWithoutRoomTests
{
    private const int LimitBytes = 32 << 20;

    // What they change is written anew, and comes to more than a write may take beyond the limit; the names come to less than memory is promised for.
    [TestCase("HSET", "HPEXPIRE", "HPERSIST", "HPTTL", "FIELDS")]
    [TestCase("HSET", "HPEXPIRE", "HGETEX", "HPTTL", "FIELDS")]
    [TestCase("ZADD", "ZPEXPIRE", "ZPERSIST", "ZPTTL", "MEMBERS")]
    public void All_entries_lose_their_times_where_memory_is_full(string add, string expire, string persist, string tell, string word)
    {
        const int Entries = 1500, SortedSets = 40; // what changes of one of these is less
        using EmbeddedServer server = Start(EvictionPolicy.NoEviction);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', add == "HSET" ? 1800 : 20);
        string[] names = [.. Enumerable.Range(0, Entries).Select(i => $"{i}{(add == "ZADD" ? value : "")}")];
        string[] keys = [.. Enumerable.Range(0, add == "HSET" ? 1 : SortedSets).Select(static i => $"k{i}")], option = persist == "HGETEX" ? ["PERSIST"] : [];
        foreach (string key in keys)
        {
            client.Call([add, key, .. names.SelectMany(name => (string[])(add == "HSET" ? [name, value] : ["1", name]))]);
            Assert.That(client.Call([expire, key, "100000000", word, $"{Entries}", .. names]), Does.StartWith("[1 "));
        }
        Fill(client);
        string[][] commands = [.. keys.Select(key => (string[])[persist, key, .. option, word, $"{Entries}", .. names])];
        Assert.That(client.Pipeline(1, commands), Has.None.StartsWith("OOM"));
        foreach (string key in keys)
            Assert.That(client.Call([tell, key, word, $"{Entries}", .. names]), Does.Match(@"^\[(-1 ?)+\]$"));
    }

    [Test]
    public void A_long_string_gets_a_time_and_loses_it_where_it_lies([Values(EvictionPolicy.NoEviction, EvictionPolicy.AllKeysLru)] EvictionPolicy policy)
    {
        const int Long = 16 << 20, Keys = 10_000;
        using EmbeddedServer server = Start(policy);
        using var client = new TestClient(server.Server.Port);
        string[] changes = ["PEXPIRE long 100000000", "PERSIST long", "GETEX long PX 100000000", "GETEX long PERSIST", "EXPIRE long 100 NX"];
        client.Call("SET", "long", new string('v', Long));
        foreach (int[] some in Enumerable.Range(0, Keys).Chunk(500))
            client.Call(["MSET", .. some.SelectMany(static i => (string[])[$"k{i}", new string('x', 1000)])]);
        long used = server.Server.Store.Figures().UsedBytes;
        foreach (string change in changes)
        {
            Assert.That(client.Call(change.Split(' ')), Is.EqualTo("1").Or.Length.EqualTo(Long), change);
            Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "one answer has come");
            Assert.That(client.Call("PTTL", "long"), change.Contains("PERSIST") ? Is.EqualTo("-1") : Is.Not.EqualTo("-1"), change);
        }
        Assert.That(server.Server.Store.Figures().EvictedKeys, Is.Zero);
        Assert.That(server.Server.Store.Figures().UsedBytes, Is.LessThan(used + (1 << 20)));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    // Each is written anew with a place for the time, faster than what they were is cleaned up.
    [TestCase("PEXPIRE {0} 100000000", "1")]
    [TestCase("GETEX {0} PX 100000000", null)]
    public void Each_key_of_a_full_memory_gets_a_time(string command, string? answer)
    {
        using EmbeddedServer server = Start(EvictionPolicy.NoEviction);
        using var client = new TestClient(server.Server.Port);
        int keys = Fill(client);
        string value = new('x', 1000);
        for (int i = 0; i < keys; i += 500)
        {
            int count = Math.Min(500, keys - i);
            string[] all = client.Pipeline(1, [.. Enumerable.Range(i, count).Select(n => string.Format(null, command, $"w{n}").Split(' '))]);
            Assert.That(all, Is.All.EqualTo(answer ?? value));
        }
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    private static EmbeddedServer Start(EvictionPolicy policy) => new(adjust: settings =>
        (settings.Memory.MaxMemoryBytes, settings.Memory.Policy, settings.Network.ReactorThreads) = (LimitBytes, policy, 1));

    // Until nothing more is taken; how many keys there are then.
    private static int Fill(TestClient client)
    {
        int keys = 0;
        for (string value = new('x', 1000); client.Call("SET", $"w{keys}", value) == "OK";) keys++;
        for (int refused = 0, i = 0; refused < 20; i++) refused += client.Call("SET", $"t{i}", "x") == "OK" ? 0 : 1;
        return keys;
    }
}
