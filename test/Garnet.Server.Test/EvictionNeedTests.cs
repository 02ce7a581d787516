using System.Globalization;
using Garnet.Common.Test;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Keys go for what is lacking, and for no more.</summary>
internal sealed class EvictionNeedTests
{
    private const int LimitBytes = 64 << 20;

    private static EmbeddedServer Start() => new(adjust: static settings =>
        (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (LimitBytes, EvictionPolicy.AllKeysLru));

    /// <summary>All of it takes two thirds of the limit; what the collection has left behind lies in one partition of many.</summary>
    [TestCase("ZADD", "ZCARD", 8_000)]
    [TestCase("HSET", "HLEN", 14_000)]
    public void A_collection_that_grows_evicts_nobody_while_all_that_lives_fits(string command, string count, int members)
    {
        const int Cold = 2_000, PerCall = 50;
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        string value = new('x', 10_000), tail = new('y', 1_000);
        for (int i = 0; i < Cold; i++) client.Call("SET", $"cold{i}", value);
        for (int i = 0; i < members; i += PerCall)
        {
            IEnumerable<string> pairs = Enumerable.Range(i, PerCall)
                .SelectMany(n => command == "ZADD" ? new[] { n.ToString(CultureInfo.InvariantCulture), $"{n}:{tail}" } : [$"{n}:{tail}", "v"]);
            Assert.That(client.Call([command, "big", .. pairs]), Is.EqualTo(PerCall.ToString(CultureInfo.InvariantCulture)));
        }
        Assert.That(client.Call(count, "big"), Is.EqualTo(members.ToString(CultureInfo.InvariantCulture)));
        Assert.That(server.Server.Store.Figures().EvictedKeys, Is.Zero);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void Room_for_a_large_value_costs_no_more_collections_than_it_takes()
    {
        const int Collections = 24, Members = 2_000, Large = 6 << 20;
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        string tail = new('y', 1_000);
        for (int i = 0; i < Collections; i++)
        {
            string[] pairs = [.. Enumerable.Range(0, Members).SelectMany(n => new[] { $"{n}:{tail}", "v" })];
            Assert.That(client.Call(["HSET", $"hash{i}", .. pairs]), Is.EqualTo(Members.ToString(CultureInfo.InvariantCulture)));
        }
        long before = server.Server.Store.Figures().EvictedKeys;
        Assert.That(client.Call("SET", "large", new string('x', Large)), Is.EqualTo("OK"));
        Assert.That(server.Server.Store.Figures().EvictedKeys - before, Is.InRange(1, 5), "each is 2 MB");
    }

    [LongCase(36)]
    [TestCase(48)]
    [LongCase(52)]
    [TestCase(56)]
    public void What_fits_once_all_else_is_evicted_is_taken(int megabytes)
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        int writes = LongRun.IsWanted ? 20 : 8;
        string value = new('x', megabytes << 20);
        for (int i = 0; i < writes; i++) Assert.That(client.Call("SET", $"k{i}", value), Is.EqualTo("OK"), $"write {i}");
        Assert.That(client.Call("EXISTS", $"k{writes - 1}"), Is.EqualTo("1"));
    }
}
