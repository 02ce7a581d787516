using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Garnet.Bulk;
using Garnet.Server.Test;
using Garnet.Wire.Bulk;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Commands of many keys that lie on the tier: of all lengths, some missing, of another type, expired, and one that cannot be read.</summary>
[Parallelizable] // servers of its own
public sealed class TierManyKeysTests
{
    private const string Unreadable = "-ERR a value cannot be read from the tier it lies on: ";
    private const int Room = 400_000; // of the client's memory, for each key
    private static readonly (string Key, int Bytes)[] Values = [("short", 100), ("page", 5000), ("large", 300_000), ("short2", 101), ("page2", 5001), ("large2", 300_001)];
    private static readonly string[] Asked = ["short", "none", "page", "set", "large", "gone", "short2", "page2", "large2"];

    [TestCase("inline")]
    [TestCase("region")]
    [TestCase("plain")]
    public async Task They_are_read_as_in_memory_all_or_none_where_one_cannot_be_read_and_written_over_it(string form)
    {
        if (form == "region" && !BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        using TierScratch tier = new(memory: "64mb", size: "64mb");
        using DataServer server = new($"{tier.Flags} --enable-protected-configs yes");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
            foreach ((string key, int bytes) in Values) client.Call("SET", key, Value(key, bytes));
            client.Call("SADD", "set", "member");
            client.Call("SET", "gone", "value", "PX", "1500");
            client.Call("SET", "harmed", Value("harmed", 5000));
            foreach (string key in Cold()) Assert.That(client.Call("TIER.DEMOTE", key).ToString(), Is.EqualTo(":1"), key);
            client.SaveSnapshot();
        }
        server.Kill();
        tier.Harm("harmed:5000:");
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        again.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        Eventually.Holds(() => again.Call("EXISTS", "gone").ToString() == ":0");
        byte[] memory = GC.AllocateUninitializedArray<byte>(Room * (Asked.Length + 1), pinned: true);
        await using BulkEndpoint? exposed = form == "region" ? BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true }) : null;
        using BulkRegion? region = exposed?.Register(memory, BulkAccess.Read | BulkAccess.Write);
        if (region is not null)
            BulkLocalTests.Meet(again, exposed!.Address, region.Name);

        string?[] expected = [.. Asked.Select(static key => Values.SingleOrDefault(value => value.Key == key) is { Key: not null } value ? Told(Value(key, value.Bytes)) : null)];
        long reads = again.Tiering("tier_reads");
        Assert.That(Get(again, form, memory, Asked), Is.EqualTo(expected));
        // Each once, together; and once more where a busy machine needs longer than the tenth of a second for which what was read is kept.
        Assert.That(again.Tiering("tier_reads") - reads, Is.InRange(Values.Length, 2 * Asked.Length));
        Assert.That(Get(again, form, memory, "harmed"), Is.Null, "an error of its own");
        Assert.That(Get(again, form, memory, "page", "harmed", "short"), Is.Null, "all are of one moment, or there is no reply");
        Assert.That(Get(again, form, memory, Asked), Is.EqualTo(expected), "and of the others it is not");

        string[] written = ["large", "none", "page2", "short"];
        Cool(again);
        Assert.That(again.Call("MSETNX", "fresh", "1", "harmed", "2").ToString(), Does.StartWith(Unreadable), "that asks what is there");
        Assert.That(again.Call("EXISTS", "fresh").ToString(), Is.EqualTo(":0"), "all or none");
        Assert.That(Put(again, form, memory, [.. written, "harmed"]), Does.StartWith(form == "plain" ? "+OK" : "[ [ "));
        written = [.. written, "harmed"];
        Assert.That(Get(again, form, memory, written), Is.EqualTo(written.Select(static (key, i) => Told(New(key, i)))));
        Assert.That(Get(again, form, memory, "short2", "gone", "page", "set", "large2"),
            Is.EqualTo(new[] { Told(Value("short2", 101)), null, Told(Value("page", 5000)), null, Told(Value("large2", 300_001)) }), "the others are as they were");
        Assert.That(server.Process.IsAlive, Is.True);
    }

    // What the keys hold; null if that is an error, which is that it cannot be read.
    private static string?[]? Get(RespConnection client, string form, byte[] memory, params string[] keys)
    {
        string[] words = form switch
        {
            "plain" => ["MGET", .. keys],
            "inline" => ["BULK.MGET", Text(keys.Length), .. keys.SelectMany(static key => new[] { key, "INLINE", "0", Text(Room) })],
            _ => ["BULK.MGET", Text(keys.Length), .. keys.SelectMany(static (key, i) => new[] { key, "1", Text(i * Room), Text(Room) })],
        };
        RespNode reply = client.Call(words);
        if (reply.Kind == '-')
        {
            Assert.That(reply.ToString(), Does.StartWith(Unreadable));
            return null;
        }
        return [.. reply.Items!.Select((item, i) => item.ToString() == "$-1" ? null : Told(form == "plain" ? item.Text
            : form == "inline" ? item.Items![^1].Text : Encoding.Latin1.GetString(memory, i * Room, int.Parse(item.Items![1].Text, CultureInfo.InvariantCulture))))];
    }

    // Short enough for a person to read where two are not the same.
    private static string Told(string value) => $"{value[..Math.Min(value.Length, 20)]}, {value.Length} bytes, {Convert.ToHexString(SHA256.HashData(Encoding.Latin1.GetBytes(value)).AsSpan(0, 4))}";

    private static string Put(RespConnection client, string form, byte[] memory, string[] keys)
    {
        string[] values = [.. keys.Select(New)];
        for (int i = 0; i < keys.Length; i++) Encoding.Latin1.GetBytes(values[i], memory.AsSpan(i * Room));
        return client.Call(form switch
        {
            "plain" => ["MSET", .. keys.SelectMany((key, i) => new[] { key, values[i] })],
            "inline" => ["BULK.MPUT", Text(keys.Length), .. keys.SelectMany((key, i) => new[] { key, "INLINE", "0", values[i] })],
            _ => ["BULK.MPUT", Text(keys.Length), .. keys.SelectMany((key, i) => new[] { key, "1", Text(i * Room), Text(values[i].Length) })],
        }).ToString();
    }

    private static void Cool(RespConnection client)
    {
        foreach ((string key, _) in Values) client.Call("TIER.DEMOTE", key);
        Assert.That(client.Call("TIER.WHERE", "large").ToString(), Does.Contain("tier"));
    }

    private static string[] Cold() => [.. Values.Select(static value => value.Key), "set", "gone", "harmed"];

    private static string Value(string key, int bytes) => $"{key}:{Text(bytes)}:".PadRight(bytes, 'v');

    private static string New(string key, int i) => $"new {key} {i}".PadRight(200 + (i * 70_000), 'n');

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
