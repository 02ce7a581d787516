using Garnet.Common;

namespace Garnet.Server.Test.Persistence;

// Every type, in databases that do not stand for what they would on a server that has just begun.
public sealed partial class TierRepairTests
{
    private const int Databases = 4, FillerBytes = 200_000;

    private static readonly string[] s_types = ["string", "hash", "list", "set", "zset", "stream"];

    [Test]
    public void Nothing_is_half_and_nothing_removed_is_back_whatever_its_type_and_database(
        [Values(Harm.Removed, Harm.Records)] Harm harm, [Values] bool copied)
    {
        Dictionary<string, string> before;
        using (EmbeddedServer server = Start())
        using (TestClient client = Loaded(server))
        {
            Call(client, ["SET", "q", "1"], ["FLUSHDB"], ["SELECT", "1"], ["SET", "q", "1"], ["SWAPDB", "0", "1"], ["SELECT", "3"], ["SET", "q", "1"], ["FLUSHDB"]);
            for (int database = 0; database < Databases; database++) FillTypes(client, database);
            for (int i = 0; i < 3; i++)
            {
                Call(client, [.. Enumerable.Range(0, 6).Select(static _ => (string[])["SET", "filler", new string('f', FillerBytes)])]);
                Call(client, ["SET", "filler", "x"]);
                Save(client);
            }
            Assert.That(Directory.GetFiles(Data, "aof-*").Min(StringComparer.Ordinal), Does.Not.Contain("-00000000000000000001."), "the log does not reach back");
            Call(client, ["SWAPDB", "1", "2"]);
            for (int database = 0; database < Databases; database++) ChangeTypes(client, database);
            Call(client, ["SWAPDB", "0", "3"], ["SELECT", "2"], ["FLUSHDB"]);
            FillTypes(client, 2);
            ChangeTypes(client, 2);
            before = State(client);
        }
        Do(harm);
        if (copied) CopyData(); // nobody vouches for the snapshot any more
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data), string.Join('\n', _said));
        string price = _said.Single(static line => line.EndsWith(" would be lost.", StringComparison.Ordinal));
        Applied();
        using EmbeddedServer again = Start();
        using TestClient reader = Loaded(again);
        Dictionary<string, string> after = State(reader);
        Assert.That(after.Where(value => before.GetValueOrDefault(value.Key) != value.Value).Select(static value => value.Key), Is.Empty, "half, or removed before");
        int lost = before.Count - after.Count;
        Assert.That(price, Is.EqualTo(lost == 0 ? "Nothing would be lost." : $"{lost} of {before.Count} values would be lost."));
        Assert.That(lost, harm == Harm.Removed ? Is.Positive : Is.Not.Negative);
    }

    private void CopyData()
    {
        string old = Data + "-old";
        Directory.Move(Data, old);
        Directory.CreateDirectory(Data);
        foreach (string file in Directory.GetFiles(old)) File.Copy(file, Path.Combine(Data, Path.GetFileName(file)));
    }

    private static void FillTypes(TestClient client, int database)
    {
        Call(client, ["SELECT", Text(database)]);
        foreach (string type in s_types)
        {
            for (int i = 0; i < 6; i++)
                Call(client, Make(type, type + Text(i), i == 0 ? 700 : 5), ["TIER.DEMOTE", type + Text(i)]);
        }
    }

    private static void ChangeTypes(TestClient client, int database)
    {
        Call(client, ["SELECT", Text(database)]);
        foreach (string type in s_types)
        {
            Call(client, Change(type, type + "0"), Change(type, type + "1"), ["DEL", type + "2"], ["EXPIRE", type + "5", "100000"]);
            Call(client, ["DEL", type + "3"], Make(type, type + "3", 3), Change(type, type + "3"), ["RENAME", type + "4", type + "-renamed"]);
        }
    }

    private static string[] Make(string type, string key, int parts) => type switch
    {
        "string" => ["SET", key, (key + ":").PadRight(parts * 20, 's')],
        "hash" => ["HSET", key, .. Enumerable.Range(0, parts).SelectMany(static i => new[] { "field-" + Text(i), "value-" + Text(i) })],
        "list" => ["RPUSH", key, .. Enumerable.Range(0, parts).Select(static i => "element-" + Text(i))],
        "set" => ["SADD", key, .. Enumerable.Range(0, parts).Select(static i => "member-" + Text(i))],
        "zset" => ["ZADD", key, .. Enumerable.Range(0, parts).SelectMany(static i => new[] { Text(i), "member-" + Text(i) })],
        _ => ["XADD", key, "1-1", .. Enumerable.Range(0, parts).SelectMany(static i => new[] { "field-" + Text(i), "value-" + Text(i) })],
    };

    private static string[] Change(string type, string key) => type switch
    {
        "string" => ["APPEND", key, "zz"],
        "hash" => ["HSET", key, "field-1", "changed", "new", "new"],
        "list" => ["LPUSH", key, "new"],
        "set" => ["SADD", key, "new"],
        "zset" => ["ZINCRBY", key, "5", "member-1"],
        _ => ["XADD", key, "2-1", "new", "new"],
    };

    // By database and key, all that is there.
    private static Dictionary<string, string> State(TestClient client)
    {
        Dictionary<string, string> state = [];
        for (int database = 0; database < Databases; database++)
        {
            Call(client, ["SELECT", Text(database)]);
            string[] keys = client.Call("KEYS", "*").Trim('[', ']').Split(' ', StringSplitOptions.RemoveEmptyEntries);
            foreach (string key in keys)
            {
                string type = client.Call("TYPE", key), value = type switch
                {
                    "string" => client.Call("GET", key),
                    "hash" => client.Call("HGETALL", key),
                    "list" => client.Call("LRANGE", key, "0", "-1"),
                    "set" => client.Call("SMEMBERS", key),
                    "zset" => client.Call("ZRANGE", key, "0", "-1", "WITHSCORES"),
                    _ => client.Call("XRANGE", key, "-", "+"),
                };
                string parts = string.Join(' ', value.Trim('[', ']').Split(' ').Order(StringComparer.Ordinal));
                state[Text(database) + "/" + key] = $"{type} {parts} {client.Call("TTL", key) == "-1"}";
            }
        }
        return state;
    }
}
