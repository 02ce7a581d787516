using System.Globalization;
using Garnet.Common.Test;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Many large entries in one command: all of them or none, and without taking several times what they are on the way (store.U20).</summary>
internal sealed class LargeEntriesTests
{
    private const int LimitBytes = 32 << 20, Keys = 200, KeyBytes = 100_000;

    // A plain run takes each command with half of the sizes of an entry, each of them with one size of the whole.
    private static IEnumerable<object[]> Sizes()
    {
        string[] commands = ["ZADD big", "GEOADD big", "HSET big", "HSETEX big FIELDS #", "SADD big", "RPUSH big", "LPUSH big"];
        int[] bytes = [150, 700, 1100, 2500], megabytes = [8, 12, 20, 28];
        return from command in Enumerable.Range(0, commands.Length)
               from entry in Enumerable.Range(0, bytes.Length)
               from whole in Enumerable.Range(0, megabytes.Length)
               where LongRun.IsWanted || ((command + entry) % 2 == 0 && (command + (entry / 2) + whole) % megabytes.Length == 0)
               select new object[] { commands[command], bytes[entry], megabytes[whole] };
    }

    [TestCaseSource(nameof(Sizes))]
    public void They_come_whole_or_not_at_all_and_leave_little_behind(string command, int bytes, int megabytes)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = LimitBytes);
        using var client = new TestClient(server.Server.Port);
        int entries = (megabytes << 20) / bytes;
        string reply = client.Call([.. Words(command, entries), .. Entries(command, entries, bytes)]);
        bool isThere = !reply.StartsWith("OOM", StringComparison.Ordinal);
        StoreFigures figures = server.Server.Store.Figures();
        Assert.That(client.Call("MEMORY", "USAGE", "big"), isThere ? Is.Not.EqualTo("nil") : Is.EqualTo("nil"), reply);
        Assert.That(client.Call(CountOf(command), "big"), Is.EqualTo(isThere ? entries.ToString(CultureInfo.InvariantCulture) : "0"));
        Assert.That(figures.PeakBytes, Is.LessThan(LimitBytes + (LimitBytes / 4)));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
        if (megabytes == 8) Assert.That(isThere, reply);
    }

    [TestCase("HSET", "f v")]
    [TestCase("SADD", "m")]
    [TestCase("ZADD", "1 m")]
    [TestCase("RPUSH", "v")]
    [TestCase("HSETEX", "FIELDS 1 f v")]
    public void A_key_that_is_too_long_evicts_nobody(string command, string rest) =>
        EvictsNobody([command, new string('k', 300_000), .. rest.Split(' ')], "ERR key is longer than 65535 bytes");

    [TestCase("HSET text")]
    [TestCase("HSETEX text FIELDS #")]
    [TestCase("SADD text")]
    [TestCase("ZADD text")]
    [TestCase("RPUSH text")]
    [TestCase("LPUSHX text")]
    public void What_finds_another_kind_evicts_nobody(string command) =>
        EvictsNobody([.. Words(command, 10_000), .. Entries(command, 10_000, 1000)], "WRONGTYPE Operation against a key holding the wrong kind of value");

    [TestCase("LPUSHX nobody")]
    [TestCase("ZADD nobody XX")]
    [TestCase("HSETEX nobody FXX FIELDS #")]
    public void What_is_for_a_key_that_is_there_evicts_nobody_where_there_is_none(string command) =>
        EvictsNobody([.. Words(command, 10_000), .. Entries(command, 10_000, 1000)], "0");

    [TestCase("HSETEX there FXX FIELDS #", "0")]
    [TestCase("HSETEX there FNX FIELDS #", "0")]
    [TestCase("HSETEX there EXAT 1 FIELDS #", "1")]
    public void What_is_not_written_for_its_condition_or_its_time_evicts_nobody(string command, string expected) =>
        EvictsNobody([.. Words(command, 10_000), .. Entries(command, 10_000, 1000)], expected, "HSET there f1 v");

    [Test]
    public void What_removes_entries_asks_for_no_room()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = LimitBytes);
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("ZADD", "z", "0", "a", "0", "b"), Is.EqualTo("2"));
        string value = new('v', 4000);
        for (int i = 0; client.Call("SET", $"k{i}", value) == "OK"; i++)
        {
        }
        Assert.That(client.Call("ZREMRANGEBYLEX", "z", "-", "[" + new string('z', 6_000_000)), Is.EqualTo("2"));
    }

    private static void EvictsNobody(string[] command, string expected, string before = "HSET one f v")
    {
        using var server = new EmbeddedServer(adjust: static settings =>
            (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (LimitBytes, EvictionPolicy.AllKeysLru));
        using var client = new TestClient(server.Server.Port);
        string value = new('v', KeyBytes);
        Assert.That(client.Call("SET", "text", "t"), Is.EqualTo("OK"));
        Assert.That(client.Call([.. before.Split(' ')]), Is.EqualTo("1"));
        for (int i = 0; i < Keys; i++) Assert.That(client.Call("SET", $"k{i}", value), Is.EqualTo("OK"));
        Assert.That(client.Call(command), Is.EqualTo(expected));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo($"{Keys + (client.Call("EXISTS", before.Split(' ')[1]) == "1" ? 2 : 1)}"));
        Assert.That(server.Server.Store.Figures().EvictedKeys, Is.Zero);
    }

    private static IEnumerable<string> Words(string command, int entries) => command.Split(' ').Select(word => word == "#" ? $"{entries}" : word);

    private static IEnumerable<string> Entries(string command, int entries, int bytes)
    {
        string[] before = command[0] switch { 'Z' => ["1"], 'G' => ["1", "2"], 'H' => ["f"], _ => [] };
        return Enumerable.Range(0, entries).SelectMany(i => before.Select(word => word == "f" ? $"f{i}" : word).Append($"{i}-".PadRight(bytes, 'v')));
    }

    private static string CountOf(string command) => command[0] switch { 'Z' or 'G' => "ZCARD", 'H' => "HLEN", 'S' => "SCARD", _ => "LLEN" };
}
