using System.Globalization;
using Garnet.Server.Test.Net;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>
/// Sorted sets whose members expire, against a plain model, packed, in chunks and going from one to the other: whatever is due is not
/// there for any command, removed or not; and what the log says gives the same content again.
/// </summary>
public sealed class MemberExpiryTests
{
    private const int Steps = 1200, HourMs = 3_600_000, HalfHourMs = HourMs / 2;

    private readonly SortedDictionary<string, (int Score, long DueMs)> _members = new(StringComparer.Ordinal);
    private long _nowMs;

    [Test]
    public void Members_are_those_of_a_model_and_the_log_says_so([Values(1, 2)] int seed, [Values(0, 600, 4096)] int packedBytes, [Values] bool removes)
    {
        var log = new RecordingLog();
        var clock = new TestClock();
        using var server = new EmbeddedServer(log, clock: clock);
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        server.Server.Store.PauseExpiry(!removes);
        using var client = new TestClient(server.Server.Port);
        var random = new Random(seed);
        _members.Clear();
        _nowMs = 0;
        for (int i = 0; i < Steps; i++)
        {
            if (random.Next(12) == 0)
            {
                clock.Advance(HourMs);
                _nowMs += HourMs;
                foreach (string due in _members.Where(member => member.Value.DueMs != 0 && member.Value.DueMs <= _nowMs).Select(static member => member.Key).ToArray())
                    _members.Remove(due);
                Compare(client, random);
            }

            Step(client, random, packedBytes == 4096 ? 40 : 150);
        }

        Compare(client, random);
        server.Server.Store.PauseExpiry(true);
        AssertReplayed(server.Server.Store, log);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_large_set_that_comes_due_ends_and_gives_its_memory_back()
    {
        const int Count = 3000;
        var clock = new TestClock();
        using var server = new EmbeddedServer(clock: clock);
        using var client = new TestClient(server.Server.Port);
        server.Server.Store.PauseExpiry(true);
        client.Call(["ZADD", "z", .. Enumerable.Range(0, Count).SelectMany(static i => new[] { Text(i), "member:" + Text(i) })]);
        long plain = Number(client.Call("MEMORY", "USAGE", "z"));
        client.Call(["ZPEXPIRE", "z", Text(HourMs), "MEMBERS", Text(Count), .. Enumerable.Range(0, Count).Select(static i => "member:" + Text(i))]);
        Assert.That(Number(client.Call("MEMORY", "USAGE", "z")), Is.GreaterThan(plain + (Count * 32)), "an expiry, and a place in the order of time");
        client.Call(["ZPERSIST", "z", "MEMBERS", Text(Count), .. Enumerable.Range(0, Count).Select(static i => "member:" + Text(i))]);
        Assert.That(Number(client.Call("MEMORY", "USAGE", "z")), Is.LessThan(plain + (plain / 3)));
        client.Call(["ZPEXPIRE", "z", Text(HourMs), "MEMBERS", Text(Count), .. Enumerable.Range(0, Count).Select(static i => "member:" + Text(i))]);
        clock.Advance(HourMs);
        Assert.That(client.Call("ZCARD", "z"), Is.EqualTo("0"));
        Assert.That(client.Call("EXISTS", "z"), Is.EqualTo("1"), "hidden, and not removed");
        Assert.That(client.Call("ZPOPMIN", "z"), Is.EqualTo("[]"));
        Assert.That(client.Call("EXISTS", "z"), Is.EqualTo("0"), "who wants to change it removes what is due");
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_score_that_is_set_removes_of_what_is_due_only_what_it_names([Values(0, 1 << 20)] int packedBytes)
    {
        const int Count = 1000;
        var log = new RecordingLog();
        var clock = new TestClock();
        using var server = new EmbeddedServer(log, clock: clock);
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        using var client = new TestClient(server.Server.Port);
        server.Server.Store.PauseExpiry(true);
        client.Call(["ZADD", "z", .. Enumerable.Range(0, Count).SelectMany(static i => new[] { Text(i), "member:" + Text(i) })]);
        client.Call(["ZPEXPIRE", "z", Text(HourMs), "MEMBERS", Text(Count), .. Enumerable.Range(0, Count).Select(static i => "member:" + Text(i))]);
        clock.Advance(HourMs);
        int before = log.Count;
        Assert.That(client.Call("ZADD", "z", "NX", "7", "new", "8", "member:500"), Is.EqualTo("2"), "who is due is not there");
        Assert.That(client.Call("ZADD", "z", "XX", "CH", "9", "member:501", "9", "new"), Is.EqualTo("1"));
        Assert.That(client.Call("ZINCRBY", "z", "1.5", "member:502"), Is.EqualTo("1.5"));
        Assert.That(log.Entries().Skip(before).Select(static entry => entry.ArgumentBytes), Has.Count.EqualTo(6).And.All.LessThan(100));
        Assert.That(client.Call("ZRANGE", "z", "0", "-1", "WITHSCORES"), Is.EqualTo("[member:502 1.5 member:500 8 new 9]"));
        Assert.That(client.Call("ZTTL", "z", "MEMBERS", "3", "member:500", "member:501", "member:502"), Is.EqualTo("[-1 -2 -1]"));
        AssertReplayed(server.Server.Store, log);
        Assert.That(client.Call("ZPOPMIN", "z"), Is.EqualTo("[member:502 1.5]"));
        AssertReplayed(server.Server.Store, log);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_pop_is_told_of_by_what_it_takes()
    {
        var clock = new TestClock();
        using var server = new EmbeddedServer(clock: clock);
        using TestClient client = new(server.Server.Port), listener = new(server.Server.Port);
        server.Server.Store.PauseExpiry(true);
        client.Call("CONFIG", "SET", "notify-keyspace-events", "Ez");
        listener.Send("PSUBSCRIBE", "*");
        listener.Read();
        client.Call("ZADD", "z", "1", "a", "2", "b", "3", "c");
        client.Call("ZPEXPIRE", "z", Text(HourMs), "MEMBERS", "2", "a", "c");
        clock.Advance(HourMs);
        Assert.That(client.Call("ZPOPMIN", "z"), Is.EqualTo("[b 2]"));
        string[] told = [.. Enumerable.Range(0, 4).Select(_ => listener.Read().Split(' ')[2].Split(':')[1])];
        Assert.That(told, Is.EqualTo(["zadd", "zexpire", "zexpired", "zpopmin"]));
    }

    [Test]
    public void A_dump_has_who_is_not_due_and_no_times([Values(0, 1024)] int packedBytes)
    {
        var clock = new TestClock();
        using var server = new EmbeddedServer(clock: clock);
        using var client = new TestClient(server.Server.Port);
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        server.Server.Store.PauseExpiry(true);
        client.Call("ZADD", "z", "1", "a", "2", "b", "3", "c");
        client.Call("ZPEXPIRE", "z", Text(HalfHourMs), "MEMBERS", "1", "a");
        client.Call("ZPEXPIRE", "z", Text(2 * HourMs), "MEMBERS", "1", "b");
        clock.Advance(HourMs);
        Assert.That(client.Call("EVAL", "return redis.call('restore', 'copy', 0, redis.call('dump', 'z'))", "0"), Is.EqualTo("OK"));
        Assert.That(client.Call("ZRANGE", "copy", "0", "-1", "WITHSCORES"), Is.EqualTo("[b 2 c 3]"));
        Assert.That(client.Call("ZTTL", "copy", "MEMBERS", "2", "b", "c"), Is.EqualTo("[-1 -1]"));
        client.Call("RENAME", "z", "moved");
        Assert.That(client.Call("ZTTL", "moved", "MEMBERS", "3", "a", "b", "c"), Does.Match(@"^\[-2 3[56]\d\d -1\]$"));
        client.Call("ZPEXPIRE", "moved", Text(HalfHourMs), "MEMBERS", "2", "b", "c");
        clock.Advance(HourMs);
        Assert.That(client.Call("DUMP", "moved"), Is.EqualTo("nil"), "there is no form for a set without members");
    }

    [Test]
    public void Places_that_are_due_are_not_found()
    {
        var clock = new TestClock();
        using var server = new EmbeddedServer(clock: clock);
        using var client = new TestClient(server.Server.Port);
        server.Server.Store.PauseExpiry(true);
        client.Call("GEOADD", "g", "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania", "13.583333", "37.316667", "Agrigento");
        client.Call("ZPEXPIRE", "g", Text(HourMs), "MEMBERS", "1", "Agrigento");
        clock.Advance(HourMs);
        Assert.That(client.Call("GEOSEARCH", "g", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km", "ASC"), Is.EqualTo("[Catania Palermo]"));
        Assert.That(client.Call("GEOPOS", "g", "Agrigento"), Is.EqualTo("[nil]"));
        Assert.That(client.Call("GEODIST", "g", "Agrigento", "Catania"), Is.EqualTo("nil"));
        Assert.That(client.Call("GEOADD", "g", "13.583333", "37.316667", "Agrigento"), Is.EqualTo("1"), "it is new");
    }

    private void Step(TestClient client, Random random, int names)
    {
        string name = "member:" + Text(random.Next(names));
        bool isThere = _members.TryGetValue(name, out (int Score, long DueMs) old);
        int score = random.Next(-20, 20);
        switch (random.Next(20))
        {
            case < 8:
                Assert.That(client.Call("ZADD", "z", Text(score), name), Is.EqualTo(isThere ? "0" : "1"));
                _members[name] = (score, 0);
                break;
            case 8:
                Assert.That(client.Call("ZADD", "z", "NX", "CH", Text(score), name), Is.EqualTo(isThere ? "0" : "1"));
                _members.TryAdd(name, (score, 0));
                break;
            case 9:
                Assert.That(client.Call("ZINCRBY", "z", Text(score), name), Is.EqualTo(Text(score + old.Score)));
                _members[name] = (score + old.Score, old.DueMs);
                break;
            case 10:
                Assert.That(client.Call("ZREM", "z", name), Is.EqualTo(_members.Remove(name) ? "1" : "0"));
                break;
            case < 16:
                int hours = random.Next(1, 6);
                Assert.That(client.Call("ZPEXPIRE", "z", Text((hours * HourMs) - HalfHourMs), "MEMBERS", "1", name), Is.EqualTo(isThere ? "[1]" : "[-2]"));
                if (isThere) _members[name] = (old.Score, _nowMs + (hours * HourMs) - HalfHourMs);
                break;
            case 16:
                Assert.That(client.Call("ZPERSIST", "z", "MEMBERS", "1", name), Is.EqualTo(!isThere ? "[-2]" : old.DueMs == 0 ? "[-1]" : "[1]"));
                if (isThere) _members[name] = (old.Score, 0);
                break;
            case 17:
                (string Name, int Score)[] ordered = Ordered();
                Assert.That(client.Call("ZPOPMAX", "z"), Is.EqualTo(ordered.Length == 0 ? "[]" : $"[{ordered[^1].Name} {Text(ordered[^1].Score)}]"));
                if (ordered.Length > 0) _members.Remove(ordered[^1].Name);
                break;
            case 18:
                string[] cut = [.. Ordered().Skip(2).Take(2).Select(static member => member.Name)];
                Assert.That(client.Call("ZREMRANGEBYRANK", "z", "2", "3"), Is.EqualTo(Text(cut.Length)));
                foreach (string one in cut) _members.Remove(one);
                break;
            default:
                string reply = random.Next(3) == 0 ? client.Call("ZCOLLECT", "z") : client.Call("COPY", "z", "z2", "REPLACE");
                Assert.That(reply, Is.EqualTo("OK").Or.EqualTo("1").Or.EqualTo("0"));
                break;
        }
    }

    private void Compare(TestClient client, Random random)
    {
        (string Name, int Score)[] all = Ordered();
        string flat = Flat(all);
        Assert.That(client.Call("ZRANGE", "z", "0", "-1", "WITHSCORES"), Is.EqualTo(flat));
        Assert.That(client.Call("ZREVRANGE", "z", "0", "-1", "WITHSCORES"), Is.EqualTo(Flat([.. all.Reverse()])));
        Assert.That(client.Call("ZCARD", "z"), Is.EqualTo(Text(all.Length)));
        Assert.That(client.Call("ZUNION", "1", "z", "WITHSCORES"), Is.EqualTo(flat));
        Assert.That(client.Call("ZRANGESTORE", "stored", "z", "1", "-2"), Is.EqualTo(Text(Math.Max(all.Length - 2, 0))));
        Assert.That(client.Call("ZINTERCARD", "2", "z", "stored"), Is.EqualTo(Text(Math.Max(all.Length - 2, 0))));
        int low = random.Next(-30, 20), high = low + random.Next(20), from = random.Next(Math.Max(all.Length, 1)), to = from + random.Next(20);
        (string Name, int Score)[] between = [.. all.Where(member => member.Score >= low && member.Score <= high)];
        Assert.That(client.Call("ZCOUNT", "z", Text(low), Text(high)), Is.EqualTo(Text(between.Length)));
        Assert.That(client.Call("ZRANGEBYSCORE", "z", Text(low), Text(high), "WITHSCORES", "LIMIT", "1", "3"), Is.EqualTo(Flat([.. between.Skip(1).Take(3)])));
        Assert.That(client.Call("ZREVRANGEBYSCORE", "z", Text(high), Text(low), "WITHSCORES", "LIMIT", "1", "3"), Is.EqualTo(Flat([.. between.Reverse().Skip(1).Take(3)])));
        Assert.That(client.Call("ZRANGE", "z", Text(from), Text(to), "WITHSCORES"), Is.EqualTo(Flat([.. all.Skip(from).Take(to - from + 1)])));
        Assert.That(Words(client.Call("ZRANDMEMBER", "z", "1000")).Order(StringComparer.Ordinal), Is.EqualTo(_members.Keys));
        Assert.That(Words(client.Call("ZSCAN", "z", "0", "COUNT", "10000", "NOSCORES")).Skip(1).Order(StringComparer.Ordinal), Is.EqualTo(_members.Keys));
        Assert.That(Words(client.Call("SORT", "z", "ALPHA")), Is.EqualTo(_members.Keys));
        for (int i = 0; i < 5; i++) CompareOne(client, all, "member:" + Text(random.Next(150)));
    }

    private void CompareOne(TestClient client, (string Name, int Score)[] all, string name)
    {
        bool isThere = _members.TryGetValue(name, out (int Score, long DueMs) member);
        int rank = Array.FindIndex(all, one => one.Name == name);
        Assert.That(client.Call("ZSCORE", "z", name), Is.EqualTo(isThere ? Text(member.Score) : "nil"));
        Assert.That(client.Call("ZMSCORE", "z", name), Is.EqualTo(isThere ? $"[{Text(member.Score)}]" : "[nil]"));
        Assert.That(client.Call("ZRANK", "z", name), Is.EqualTo(isThere ? Text(rank) : "nil"));
        Assert.That(client.Call("ZREVRANK", "z", name), Is.EqualTo(isThere ? Text(all.Length - 1 - rank) : "nil"));
        long left = Number(client.Call("ZPTTL", "z", "MEMBERS", "1", name).Trim('[', ']'));
        long expected = !isThere ? -2 : member.DueMs == 0 ? -1 : member.DueMs - _nowMs;
        Assert.That(left, expected < 0 ? Is.EqualTo(expected) : Is.InRange(expected - (HalfHourMs / 2), expected), "the wall clock goes on a little");
    }

    private (string Name, int Score)[] Ordered() =>
        [.. _members.Select(static member => (Name: member.Key, member.Value.Score)).OrderBy(static member => member.Score).ThenBy(static member => member.Name, StringComparer.Ordinal)];

    private static string Flat((string Name, int Score)[] members) => $"[{string.Join(' ', members.Select(static member => $"{member.Name} {Text(member.Score)}"))}]";

    private static string[] Words(string reply) => reply.Replace("[", "", StringComparison.Ordinal).Replace("]", "", StringComparison.Ordinal).Split(' ', StringSplitOptions.RemoveEmptyEntries);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    private static void AssertReplayed(Store store, RecordingLog log)
    {
        using var copy = new Store(new StoreSettings { BackgroundMovers = false });
        ReplayTable table = CommandFamilies.Replay();
        using StoreSession session = copy.OpenSession();
        foreach (LogEntry entry in log.Entries()) Assert.That(entry.Apply(table, copy, session), Is.True, $"operation {entry.OpId} was refused");
        Assert.That(StoreContent.Of(copy, copy.Namespaces.Id(0)), Is.EqualTo(StoreContent.Of(store, store.Namespaces.Id(0))));
        Assert.That(StoreCheck.Run(copy), Is.Empty);
    }
}
