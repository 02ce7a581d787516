using System.Globalization;
using System.IO.Compression;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// A data directory of a server that keeps its tier, with the tier's file, opens for ever: what lies in segments, snapshots that name it, and the manifest of version 4. A new version of
/// one of these gets a directory of its own (<see cref="Write_a_golden_directory"/>); an old one is never written again. The tier's file is mostly room, so it is kept packed.
/// The one with runs has snapshots that name values in several segments; the one with classes has segments whose heads say how long their records are.
/// </summary>
public sealed class GoldenTierTests
{
    private const int Version = 4, Keys = 40, Many = 800;
    private const long TierBytes = 16 << 20;
    private const int LongStep = 300_000; // of a value in three segments, mostly zeros
    private const string Plain = "tier-v4", WithRuns = "tier-v4-runs", WithClasses = "tier-v4-classes";
    private const string ContentFile = "content.txt", Packed = ".gz", FarAway = "4102444800000";

    private DirectoryInfo _copy = null!;

    [SetUp]
    public void SetUp() => _copy = Directory.CreateTempSubdirectory("garnet-golden-");

    [TearDown]
    public void TearDown() => _copy.Delete(recursive: true);

    [Test]
    public void A_directory_with_a_tier_is_sound_and_holds_what_it_held([Values(Plain, WithRuns, WithClasses)] string golden)
    {
        Unpack(Golden(golden));
        List<string> said = [];
        Assert.That(DataTool.Check(_copy.FullName, said.Add, said.Add), Is.Zero, string.Join('\n', said));
        Assert.That(said, Has.Some.Matches(@"^ +snapshot-\d+\.snap: sound, \d+ records \(\d+ of them on the tier, in \d+ segments\)"));
        using EmbeddedServer server = Start(_copy.FullName, _copy.FullName);
        using TestClient client = Loaded(server);
        Assert.That(Content(client, golden), Is.EqualTo(File.ReadAllText(Path.Combine(Golden(golden), ContentFile))));
    }

    [Test, Explicit("writes a golden directory; for new versions of the format only")]
    public void Write_a_golden_directory()
    {
        using (EmbeddedServer server = Start(_copy.FullName, _copy.FullName))
        using (TestClient client = Loaded(server))
        {
            Fill(client);
            client.Call("BGSAVE");
            Eventually.Holds(() => client.Call("INFO", "persistence") is var figures && figures.Contains("rdb_saves:1", StringComparison.Ordinal) && figures.Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
            Change(client);
            File.WriteAllText(Path.Combine(Directory.CreateDirectory(Golden(WithClasses)).FullName, ContentFile), Content(client, WithClasses));
        }

        foreach (string file in Directory.GetFiles(_copy.FullName))
        {
            string name = Path.GetFileName(file);
            if (name.StartsWith("tier-", StringComparison.Ordinal)) Pack(file, Path.Combine(Golden(WithClasses), name + Packed));
            else if (name is not ("lock" or DirectoryKey.FileName)) File.Copy(file, Path.Combine(Golden(WithClasses), name), overwrite: true);
        }
    }

    private static string Golden(string name) => Path.Combine(Repository.Root, "test", "golden", name);

    // Where the tier's file is stands in the manifest.
    private void Unpack(string golden)
    {
        foreach (string file in Directory.GetFiles(golden).Where(static file => !file.EndsWith(".txt", StringComparison.Ordinal)))
        {
            string to = Path.Combine(_copy.FullName, Path.GetFileName(file));
            if (!file.EndsWith(Packed, StringComparison.Ordinal)) File.Copy(file, to);
            else using (FileStream from = File.OpenRead(file)) Unpack(from, to[..^Packed.Length]);
        }
        Assert.That(File.ReadAllText(Path.Combine(_copy.FullName, Manifest.FileName)), Does.StartWith($"garnet-manifest {Version}\n"));
        using DataDirectory directory = DataDirectory.OpenUnlocked(new FileDisk(_copy.FullName));
        directory.NameTier(directory.Manifest.Tier! with { Path = _copy.FullName });
    }

    private static void Unpack(Stream from, string to)
    {
        using GZipStream packed = new(from, CompressionMode.Decompress);
        using FileStream file = File.Create(to);
        packed.CopyTo(file);
    }

    private static void Pack(string from, string to)
    {
        using FileStream file = File.OpenRead(from), packed = File.Create(to);
        using GZipStream zip = new(packed, CompressionLevel.SmallestSize);
        file.CopyTo(zip);
    }

    private static EmbeddedServer Start(string path, string tier) => new(directory: DataDirectory.OpenUnlocked(new FileDisk(path)), sync: AppendSync.No, adjust: settings =>
    {
        (settings.Persistence.SegmentBytes, settings.Persistence.Sublogs) = (256 << 10, 1);
        (settings.Tier.Path, settings.Tier.SizeBytes, settings.Memory.MaxMemoryBytes) = (tier, TierBytes, 16 << 20);
    });

    private static TestClient Loaded(EmbeddedServer server)
    {
        TestClient client = new(server.Server.Port);
        Eventually.Holds(() => client.Call("PING") == "PONG");
        return client;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static void Fill(TestClient client)
    {
        string[] all = [.. Enumerable.Range(0, Keys).Select(static i => "key:" + Text(i)), "big", "expiring", "hash", "list", "set", "sorted", "stream", "hash-many", "sorted-many", "long"];
        string[][] commands =
        [
            .. Enumerable.Range(0, Keys).Select(static i => (string[])["SET", "key:" + Text(i), Value(i)]),
            ["SET", "big", new string('b', 100_000)], ["SET", "expiring", "v", "PXAT", FarAway],
            ["HSET", "hash", "a", "1", "b", "2"], ["HPEXPIREAT", "hash", FarAway, "FIELDS", "1", "a"], ["RPUSH", "list", "a", "b", "1"], ["SADD", "set", "1", "2", "70000"],
            ["ZADD", "sorted", "1", "a", "2.5", "b"], ["XADD", "stream", "1-1", "name", "value"],
            ["HSET", "hash-many", .. Enumerable.Range(0, Many).SelectMany(static i => new[] { "field-" + Text(i), "value-" + Text(i) })],
            ["ZADD", "sorted-many", .. Enumerable.Range(0, Many).SelectMany(static i => new[] { Text(i * 7 % Many), "member-" + Text(i) })],
            .. Enumerable.Range(0, 9).Select(static i => (string[])["SETRANGE", "long", Text(i * LongStep), "part " + Text(i)]),
            .. all.Select(static key => (string[])["TIER.DEMOTE", key]), ["SET", "memory", "1"],
            ["SELECT", "3"], ["SET", "elsewhere", "3"], ["TIER.DEMOTE", "elsewhere"], ["SELECT", "0"],
        ];
        Assert.That(client.Pipeline(1, commands), Has.None.StartsWith("ERR").And.None.StartsWith("WRONG"));
        Assert.That(all.Select(key => client.Call("TIER.WHERE", key)), Has.All.Contains("tier"));
    }

    // What the log says of what lies there.
    private static void Change(TestClient client)
    {
        string[][] commands =
        [
            ["APPEND", "key:1", "-tail"], ["DEL", "key:2"], ["PEXPIREAT", "key:3", FarAway], ["HSET", "hash-many", "field-7", "changed"], ["ZREM", "sorted-many", "member-9"], ["SADD", "set", "3"],
            ["SET", "late", "1"],
        ];
        Assert.That(client.Pipeline(1, commands), Has.None.StartsWith("ERR").And.None.StartsWith("WRONG"));
    }

    private static string Value(int i) => string.Concat(Enumerable.Repeat(Text(i) + ";", 20 + (i * 10)));

    private static string Content(TestClient client, string golden) => string.Concat(((string[])
    [
        .. Enumerable.Range(0, Keys).Select(static i => "GET key:" + Text(i)), "PEXPIRETIME key:3", "STRLEN big", "GETRANGE big 99990 -1", "GET expiring", "PEXPIRETIME expiring", "HGETALL hash", "HPEXPIRETIME hash FIELDS 1 a",
        "LRANGE list 0 -1", "SMEMBERS set", "ZRANGE sorted 0 -1 WITHSCORES", "XRANGE stream - +", "HGETALL hash-many", "ZRANGE sorted-many 0 -1 WITHSCORES", "GET memory", "GET late",
        "SELECT 3", "GET elsewhere", "DBSIZE", "SELECT 0", "DBSIZE",
        .. golden == Plain ? [] : OfLong,
    ]).Select(command => $"{command}\n{Shown(command, client.Call(command.Split(' ')))}\n"));

    private static string[] OfLong =>
        ["STRLEN long", "BITCOUNT long", .. Enumerable.Range(0, 9).Select(static i => $"GETRANGE long {i * LongStep} {(i * LongStep) + 5}")];

    // Hashes and sets have no order to rely on.
    private static string Shown(string command, string reply) => !command.StartsWith("HGETALL", StringComparison.Ordinal) && !command.StartsWith("SMEMBERS", StringComparison.Ordinal) ? reply
        : string.Join(' ', reply.Trim('[', ']').Split(' ').Chunk(command[0] == 'H' ? 2 : 1).Select(static words => string.Join('=', words)).Order(StringComparer.Ordinal));
}
