using System.Globalization;
using Garnet.Aof.Format;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication;
using Tsavorite;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// A command of several changes meets the end of what a step may write to the log, or of the memory, anywhere: it happens whole or not at all,
/// and what is there afterwards is what the log says too (store.U20, store.U22).
/// </summary>
internal sealed class StepEdgeTests
{
    private const int Limit = (int)LogLimits.StepBytesMaxLeast, Members = 600;
    private const long Memory = 64L << 20;

    private static readonly string[] Commands =
    [
        "SMOVE s1 s2 a", "LMOVE l1 l1 LEFT RIGHT", "LMOVE l1 l2 LEFT RIGHT", "RPOPLPUSH l1 l2", "RENAME st st2", "RENAME l1 l2", "RENAME big s1", "RENAME zbig z1", "RENAME hbig h",
        "RENAME hexp h", "RENAME lbig l1", "RENAME x st", "RENAME xbig st", "COPY xbig st REPLACE", "COPY zbig z1 REPLACE", "COPY hexp h REPLACE", "MSET st 1 st2 2 other 3", "MSETNX o1 1 o2 2",
        "DEL s1 s2 l1", "UNLINK s1 s2", "SUNIONSTORE s1 s1 s2", "SINTERSTORE s1 s1 s2", "SUNIONSTORE s1 big", "ZUNIONSTORE z1 2 z1 z2", "ZUNIONSTORE z1 1 zbig", "ZRANGESTORE z1 zbig 0 -1",
        "SORT l1 ALPHA STORE l2", "SORT big ALPHA STORE l2", "BITOP AND st st st2", "PFMERGE pf1 pf2", "LMPOP 1 l1 LEFT COUNT 2", "ZMPOP 1 z1 MIN", "ZPOPMIN zbig 300", "LTRIM lbig 10 20",
        "MOVE big 1", "HDEL h f1 f2", "BITFIELD st SET u8 0 1 SET u8 8 2", "XTRIM x MAXLEN 1", "GETDEL st", "APPEND st zz",
    ];

    [TestCaseSource(nameof(Commands))]
    public void At_the_end_of_what_a_step_may_write_a_command_happens_whole_or_not_at_all(string command)
    {
        var disk = new MemoryDisk();
        SortedDictionary<string, string> last;
        using (EmbeddedServer server = KeeperTests.Start(disk, static settings => settings.Persistence.StepBytesMax = Limit))
        {
            using var client = new TestClient(server.Server.Port);
            Fill(client);
            SortedDictionary<string, string> before = ReplicaGroup.ContentOf(server);
            client.Call(command.Split(' '));
            SortedDictionary<string, string> after = ReplicaGroup.ContentOf(server);
            foreach (int room in Rooms(Array.IndexOf(Commands, command)))
            {
                Fill(client);
                client.Call("MULTI");
                client.Call("SET", "fill", new string('f', Limit - room));
                client.Call(command.Split(' '));
                string reply = client.Call("EXEC");
                client.Call("DEL", "fill");
                SortedDictionary<string, string> now = ReplicaGroup.ContentOf(server);
                if (reply.Contains("a step of", StringComparison.Ordinal)) Assert.That(now, Is.EqualTo(before), $"room {room}: {reply[..Math.Min(reply.Length, 100)]}");
                else Assert.That(now.Count, Is.EqualTo(after.Count), $"room {room}");
            }
            last = ReplicaGroup.ContentOf(server);
        }
        using (EmbeddedServer server = KeeperTests.Start(disk)) Assert.That(ReplicaGroup.ContentOf(server), Is.EqualTo(last));
    }

    [TestCase("RENAME", "source", "target")]
    [TestCase("COPY", "source", "target", "REPLACE")]
    [TestCase("SORT", "source", "BY", "nosort", "STORE", "target")]
    public void With_memory_full_a_command_that_replaces_a_key_leaves_it_as_it_was(params string[] command)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = Memory);
        using var client = new TestClient(server.Server.Port);
        string element = new('e', 1000);
        for (int i = 0; i < 20; i++) client.Call(["RPUSH", "source", .. Enumerable.Repeat(element, 1000)]);
        client.Call("SET", "target", "before");
        string value = new('v', 100_000);
        for (int i = 0; client.Call("SET", $"fill{i}", value) == "OK"; i++) { }
        for (int i = 0; i < 12; i++) client.Call("DEL", $"fill{i}"); // writes go on, but the copy does not fit
        Assert.That(client.Call("SET", "small", "1"), Is.EqualTo("OK"));
        Assert.That(client.Call(command), Does.StartWith("OOM"));
        Assert.That((client.Call("GET", "target"), client.Call("LLEN", "source")), Is.EqualTo(("before", "20000")));
    }

    [Test]
    public void What_has_expired_counts_for_the_step_that_finds_it()
    {
        const int Keys = 40, NameBytes = 60_000; // their deletions are longer than a step may be
        using EmbeddedServer server = KeeperTests.Start(new MemoryDisk(), static settings => settings.Persistence.StepBytesMax = Limit);
        using var client = new TestClient(server.Server.Port);
        server.Server.Settings.Security.DebugCommand = AccessScope.Yes;
        client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        for (int i = 0; i < Keys; i++) client.Call("SET", Name(i), "1", "PXAT", "1");
        for (int i = 0; i < Keys; i++) client.Call("SET", Name(i), "1", "PX", "1");
        string reply = client.Call("EVAL", $"for i = 0, {Keys - 1} do local n = tostring(i) redis.call('INCR', string.rep('0', {NameBytes} - #n) .. n) end", "0");
        Assert.That(reply, Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("SET", "after", "1"), Is.EqualTo("OK"));

        static string Name(int number) => number.ToString(CultureInfo.InvariantCulture).PadLeft(NameBytes, '0');
    }

    // A short run tries a ninth of them with each command, and all with every nine.
    private static IEnumerable<int> Rooms(int command)
    {
        int parts = LongRun.IsWanted ? 1 : 18;
        return Enumerable.Range(0, 17).Select(static i => 20 + (i * 40)).Concat(Enumerable.Range(0, 10).Select(static i => 700 + (i * 13_000)))
            .Where((_, i) => i % parts == command % parts);
    }

    private static void Fill(TestClient client)
    {
        client.Call("FLUSHALL");
        client.Call("SADD", "s1", "a", "b", "c");
        client.Call("SADD", "s2", "b", "x");
        client.Call(["RPUSH", "l1", new string('A', 100), new string('B', 100), new string('C', 100)]);
        client.Call("RPUSH", "l2", "D");
        client.Call("MSET", "st", "hello", "st2", "world");
        client.Call("ZADD", "z1", "1", "a", "2", "b");
        client.Call("ZADD", "z2", "1", "a", "3", "c");
        client.Call("HSET", "h", "f1", "v1", "f2", "v2", "f3", "v3");
        client.Call("PFADD", "pf1", "a", "b");
        client.Call("PFADD", "pf2", "c");
        string[] members = [.. Enumerable.Range(0, Members).Select(static i => $"member{i:000000}".PadRight(40, 'z'))];
        client.Call(["SADD", "big", .. members]);
        client.Call(["RPUSH", "lbig", .. members]);
        client.Call(["ZADD", "zbig", .. members.SelectMany(static (member, i) => new[] { $"{i}.123456789012345", member })]);
        client.Call(["HSET", "hbig", .. members.SelectMany(static member => new[] { member, "value" })]);
        client.Call(["HSETEX", "hexp", "PXAT", "1900000000000", "FIELDS", $"{Members}", .. members.SelectMany(static member => new[] { member, "value" })]);
        for (int i = 1; i <= 3; i++) client.Call("XADD", "x", $"{i}-1", "f", "value");
        client.Call(["EVAL", "for i, member in ipairs(ARGV) do redis.call('XADD', KEYS[1], i .. '-1', 'f', member) end", "1", "xbig", .. members[1..301]]);
        client.Call("XGROUP", "CREATE", "xbig", "g", "0");
    }
}
