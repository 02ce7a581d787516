using Garnet.Server.Test.Net;
using Garnet.Wire;

namespace Garnet.Server.Test;

/// <summary>Fields whose time has come are removed without anyone asking for them, a part of a large hash at a time.</summary>
public sealed class EntryReaperTests
{
    private const int Fields = 50_000, TickMs = 100;

    [Test]
    public void A_large_hash_of_due_fields_ends_over_several_ticks()
    {
        using TestServer server = new(TransportKind.Sockets, stopsClock: true);
        using RespConnection client = server.Connect();
        Fill(client, "gone", "a", Fields);
        Expire(client, "gone", "a", Fields);
        Fill(client, "half", "kept", Fields / 2);
        Fill(client, "half", "due", Fields / 2);
        Expire(client, "half", "due", Fields / 2);
        server.Advance(2000);
        client.Call("PING");
        Assert.That(Records(client), Is.EqualTo(":2"), "one tick does not go through all of a large hash");
        for (int tick = 0; tick < 20; tick++)
        {
            server.Advance(TickMs);
            client.Call("PING");
        }

        Assert.That(() => Step(server, client), Is.EqualTo(":1").After(60_000, 1), "the hash without fields is gone");
        Assert.That(client.Call("HLEN", "half").ToString(), Is.EqualTo($":{Fields / 2}"));
        Assert.That(client.Call("HGET", "half", "kept77").ToString(), Does.Contain("v"));
    }

    private static string Step(TestServer server, RespConnection client)
    {
        server.Advance(TickMs);
        return Records(client);
    }

    private static string Records(RespConnection client) => client.Call("DBSIZE").ToString();

    private static void Fill(RespConnection client, string key, string prefix, int count)
    {
        for (int at = 0; at < count; at += 1000)
            Assert.That(client.Call(["HSET", key, .. Enumerable.Range(at, 1000).SelectMany(i => new[] { prefix + i, "v" })]).ToString(), Is.EqualTo(":1000"));
    }

    private static void Expire(RespConnection client, string key, string prefix, int count)
    {
        for (int at = 0; at < count; at += 1000)
            Assert.That(client.Call(["HPEXPIRE", key, "1000", "FIELDS", "1000", .. Enumerable.Range(at, 1000).Select(i => prefix + i)]).ToString(), Does.Not.Contain(":0").And.Contain(":1"));
    }
}
