using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common.Test;
using Garnet.Common;
using Garnet.Server.Test.Hostile;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// Values on the tier that cannot be read: what a check says, and what a repair leaves. Every value that can be read is there, nothing is half, and as much is gone as was said.
/// </summary>
[Parallelizable(ParallelScope.All), FixtureLifeCycle(LifeCycle.InstancePerTestCase)] // each with a directory of its own, waiting for the disk
public sealed partial class TierRepairTests
{
    private const int Keys = 600, InMemory = 600, Changed = 200, Fields = 2000;
    private const int SegmentBytes = 1 << 20, PageBytes = 4096;
    private const long TierBytes = 32 << 20;

    /// <summary>What becomes of the tier's file.</summary>
    public enum Harm
    {
        Records,
        Segment,
        FirstPage,
        CutInTheMiddle,
        CutAtItsEnd,
        Removed,
    }

    private readonly List<string> _said = [];
    private readonly Dictionary<string, string> _values = [];
    private readonly HashSet<string> _sure = [];
    private DirectoryInfo _directory = null!;

    private string Data => Path.Combine(_directory.FullName, "data");
    private string Tier => Directory.CreateDirectory(Path.Combine(_directory.FullName, "tier")).FullName;
    private string TierFile => Directory.GetFiles(Tier, "tier-*").Single();

    [SetUp]
    public void SetUp() => _directory = Directory.CreateTempSubdirectory("garnet");

    [TearDown]
    public void TearDown()
    {
        _directory.Delete(recursive: true);
        _said.Clear();
        _values.Clear();
        _sure.Clear();
    }

    // A short run does each harm to a directory with a log, or to one without.
    private static IEnumerable<object[]> Harms() =>
        from harm in Enum.GetValues<Harm>()
        from hasLog in LongRun.PartOf([false, true], every: 2, first: (int)harm)
        select new object[] { harm, hasLog };

    [TestCaseSource(nameof(Harms))]
    public void What_can_be_read_is_kept_and_as_much_is_gone_as_was_said(Harm harm, bool hasLog)
    {
        Fill(hasLog);
        Do(harm);
        Assert.That(DataTool.Check(Data, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.Matches(@"DAMAGED +snapshot-\d+\.snap: \d+ records? on the tier cannot be read.*: segment \d+ \(\d+ of \d+\)"));
        Assert.That(_said[^1], Does.Contain("garnet-server repair"));
        AssertOneVerdict();
        Dictionary<string, string> before = Files();
        (int lost, int of) = Proposed();
        Assert.That(lost, Is.Positive);
        Assert.That(Files(), Is.EqualTo(before), "a proposal changes nothing");
        Applied();
        Assert.That(Directory.GetFiles(Data).Select(Path.GetFileName), Has.Some.StartsWith("damaged-1-snapshot-"));
        for (int starts = 0; starts < 2; starts++)
        {
            int missing = Judge(harm == Harm.Removed);
            Assert.That((missing, _values.Count), Is.EqualTo((lost, of)));
        }
        AssertSound();
    }

    [TestCase(0)]
    [LongCase(5)]
    [TestCase(20)]
    [LongCase(32)]
    [TestCase(61)]
    public void A_damaged_head_of_the_tiers_file_is_made_what_it_was(int at)
    {
        Fill(hasLog: true);
        byte[] whole = File.ReadAllBytes(TierFile);
        using (FileStream file = File.OpenWrite(TierFile))
        {
            file.Position = at;
            file.WriteByte((byte)(whole[at] ^ 0xFF));
        }
        GarnetException refused = Assert.Throws<GarnetException>(() => DataTool.Check(Data, _said.Add, _said.Add))!;
        Assert.That(refused.Next, Does.Contain("'garnet-server repair' writes its head anew"));
        Dictionary<string, string> before = Files();
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.StartsWith("Would write the head of tier-").And.Some.EqualTo("Nothing would be lost."));
        Assert.That(Files(), Is.EqualTo(before), "a proposal changes nothing");
        Applied();
        Assert.That(File.ReadAllBytes(TierFile).AsSpan(0, PageBytes).SequenceEqual(whole.AsSpan(0, PageBytes)));
        Assert.That(Directory.GetFiles(Data).Select(Path.GetFileName), Has.Some.Matches(@"damaged-1-tier-.*\.head"));
        Assert.That(Judge(), Is.Zero);
    }

    [Test]
    public void A_table_under_right_checksums_that_says_another_database_is_damage_and_that_is_all_that_is_said_of_it()
    {
        Fill(hasLog: false);
        ForgeDatabase();
        Assert.That(DataTool.Check(Data, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data), string.Join('\n', _said));
        Assert.That(_said, Has.Some.Matches(@"DAMAGED +snapshot-\d+\.snap: .*table of segments is not as it must be"));
        AssertOneVerdict();
    }

    [Test]
    public void Where_the_log_alone_has_all_there_was_nothing_is_lost([Values(Harm.Records, Harm.Removed)] Harm harm)
    {
        using (EmbeddedServer server = Start())
        using (TestClient client = Loaded(server))
        {
            Put(client, 0, 300);
            Save(client);
            Call(client, ["APPEND", "key:7", "-tail"]);
            _values["key:7"] += "-tail";
        }
        Do(harm);
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.StartsWith("Would begin with the log alone").And.Some.EqualTo("Nothing would be lost."));
        Applied();
        Assert.That(Judge(harm == Harm.Removed), Is.Zero);
    }

    [Test]
    public void Where_the_snapshot_before_has_what_is_lost_it_is_gone_back_to()
    {
        using (EmbeddedServer server = Start())
        using (TestClient client = Loaded(server))
        {
            Set(client, 0, 300);
            Save(client);
            Set(client, 300, 301);
            Call(client, [.. _values.Keys.Select(static key => (string[])["TIER.DEMOTE", key])]);
            Save(client);
        }
        Do(Harm.Records);
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.StartsWith("Would begin with snapshot-").And.Some.EqualTo("Nothing would be lost."), string.Join('\n', _said));
        Applied();
        Assert.That(Judge(), Is.Zero);
    }

    [Test]
    public void A_collection_that_lacks_a_piece_goes_as_a_whole_and_what_is_put_anew_is_there([Values] bool replaced)
    {
        using (EmbeddedServer server = Start(keepsLog: false))
        using (TestClient client = Loaded(server))
        {
            Call(client, ["HSET", "whole", "field", "value"], ["HSET", "large", .. Pairs()], ["TIER.DEMOTE", "large"], ["SADD", "other", .. Enumerable.Range(0, Fields).Select(Text)]);
            Save(client);
        }
        Do(Harm.Records);
        (int lost, int of) = Proposed();
        Assert.That((lost, of), Is.EqualTo((1, 3)));
        Applied();
        using EmbeddedServer again = Start(keepsLog: false);
        using TestClient reader = Loaded(again);
        Assert.That(Call(reader, ["DBSIZE"], ["EXISTS", "large"], ["HGET", "whole", "field"], ["SCARD", "other"]), Is.EqualTo(new[] { "2", "0", "value", Text(Fields) }));
        Assert.That(reader.Call("INFO", "tiering"), Does.Contain("tier_cold_records:0"), "no piece of it is left");
        if (!replaced) return;
        Call(reader, ["HSET", "large", "field", "new"]);
        Assert.That(reader.Call("HGETALL", "large"), Is.EqualTo("[field new]"));
    }

    [Test]
    public void Pieces_of_a_collection_whose_root_is_lost_are_not_left_behind()
    {
        using (EmbeddedServer server = Start(keepsLog: false))
        using (TestClient client = Loaded(server))
        {
            Call(client, ["HSET", "large", .. Pairs()], ["TIER.DEMOTE", "large"], ["HSET", "whole", .. Pairs()], ["TIER.DEMOTE", "whole"]);
            Assert.That(client.Call("INFO", "tiering"), Does.Not.Contain("tier_cold_records:2\r"), "they have pieces");
            Save(client);
        }
        HarmRoot("large"u8);
        Assert.That(Proposed(), Is.EqualTo((1, 2)));
        Applied();
        using EmbeddedServer again = Start(keepsLog: false);
        using TestClient reader = Loaded(again);
        Assert.That(Call(reader, ["DBSIZE"], ["EXISTS", "large"], ["HLEN", "whole"], ["DEL", "whole"]), Is.EqualTo(new[] { "1", "0", Text(Fields), "1" }));
        Eventually.Holds(() => reader.Call("INFO", "tiering").Contains("tier_cold_records:0", StringComparison.Ordinal));
    }

    [Test]
    public void Only_the_way_back_is_given_up_where_only_the_snapshot_before_lacks_something()
    {
        using (EmbeddedServer server = Start())
        using (TestClient client = Loaded(server))
        {
            Put(client, 0, 300);
            Save(client);
            for (int i = 0; i < 300; i++) Call(client, ["SET", "key:" + Text(i), _values["key:" + Text(i)] = Value(i + 1)]);
            Save(client);
        }
        Do(Harm.Records);
        Assert.That(DataTool.Check(Data, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.Contains("only the way back").And.Some.EqualTo("Nothing would be lost."));
        Applied();
        Assert.That(Judge(), Is.Zero);
    }

    /// <summary>What becomes of the last page of a segment.</summary>
    public enum LastPage
    {
        Zeroed,
        Overwritten,
        CutOff,
    }

    private static IEnumerable<object[]> LastPages() =>
        from harm in Enum.GetValues<LastPage>()
        from hasLog in LongRun.PartOf([false, true], every: 2, first: (int)harm)
        select new object[] { harm, hasLog };

    [TestCaseSource(nameof(LastPages))]
    public void A_segment_whose_last_page_held_only_what_was_gone_costs_nothing(LastPage harm, bool hasLog)
    {
        const int Last = 99, Bytes = 3000;
        using (EmbeddedServer server = Start(hasLog))
        using (TestClient client = Loaded(server))
        {
            for (int i = 0; i <= Last; i++)
                Call(client, ["SET", "key:" + Text(i), _values["key:" + Text(i)] = Value(i).PadRight(Bytes, '-')], ["TIER.DEMOTE", "key:" + Text(i)]);
            Call(client, ["DEL", "key:" + Text(Last)]);
            _values.Remove("key:" + Text(Last));
            Save(client);
        }
        HarmPageOf("key:" + Text(Last) + Value(Last), harm);
        Assert.That(DataTool.Check(Data, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data), string.Join('\n', _said));
        Assert.That(_said, Has.Some.Matches(@"DAMAGED +snapshot-\d+\.snap: 1 segment of the tier is not the one that is named"));
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.EqualTo("Nothing would be lost."), string.Join('\n', _said));
        Applied();
        Assert.That(Judge(), Is.Zero);
    }

    private void HarmPageOf(string record, LastPage harm)
    {
        int page = File.ReadAllBytes(TierFile).AsSpan().IndexOf(System.Text.Encoding.ASCII.GetBytes(record)) / PageBytes * PageBytes;
        Assert.That(page, Is.Positive);
        using FileStream file = new(TierFile, FileMode.Open);
        if (harm == LastPage.CutOff)
            file.SetLength(page);
        else
            Write(file, page, harm == LastPage.Zeroed ? new byte[PageBytes] : [.. Enumerable.Repeat((byte)0xA5, PageBytes)]);
    }

    // Strings and large collections on the tier and in memory, two snapshots, and a log that does not reach back, with changes of what lies on the tier.
    private void Fill(bool hasLog)
    {
        using EmbeddedServer server = Start(hasLog);
        using TestClient client = Loaded(server);
        Put(client, 0, Keys);
        Call(client, ["HSET", "large", .. Pairs()], ["TIER.DEMOTE", "large"], ["ZADD", "sorted", .. Enumerable.Range(0, Fields).SelectMany(static i => new[] { Text(i), "member-" + Text(i) })]);
        (_values["large"], _values["sorted"]) = (Text(Fields), Text(Fields));
        Save(client);
        Set(client, Keys, Keys + InMemory);
        _sure.UnionWith(Enumerable.Range(Keys, InMemory).Select(static i => "key:" + Text(i)));
        _sure.Add("sorted");
        Save(client);
        for (int i = 0; hasLog && i < Changed; i++) Change(client, i);
        if (hasLog) Assert.That(Directory.GetFiles(Data, "aof-*").Min(StringComparer.Ordinal), Does.Not.Contain("-00000000000000000001."), "the log does not reach back");
    }

    private void Change(TestClient client, int i)
    {
        string key = "key:" + Text(i);
        switch (i % 5)
        {
            case 0:
                Call(client, ["APPEND", key, "-tail"]);
                _values[key] += "-tail";
                break;
            case 1:
                Call(client, ["SET", key, _values[key] = Value(i + 1)], ["APPEND", key, "-tail"]);
                _values[key] += "-tail";
                _sure.Add(key);
                break;
            case 2:
                Call(client, ["DEL", key]);
                _values.Remove(key);
                break;
            case 3:
                Call(client, ["GETDEL", key], ["SETRANGE", key, "3", "x"]);
                _values[key] = "\0\0\0x";
                _sure.Add(key);
                break;
            default:
                Call(client, ["EXPIRE", key, "100000"], ["SETBIT", key, "7", "1"]);
                _values[key] = (char)(_values[key][0] | 1) + _values[key][1..];
                break;
        }
        if (i == 9) Call(client, ["HSET", "large", "field-5", "changed"]);
    }

    // How many values are missing; whatever is there is as it was.
    private int Judge(bool isEmptied = false)
    {
        using EmbeddedServer server = Start();
        using TestClient client = Loaded(server);
        if (isEmptied) Assert.That(client.Call("INFO", "tiering"), Does.Contain("tier_cold_records:0"));
        List<string> missing = [];
        // All at once: one after the other, each would wait for the disk.
        string[] replies = client.Pipeline(1, [.. _values.Keys.Select(static key => (string[])[key switch { "large" => "HLEN", "sorted" => "ZCARD", _ => "GET" }, key])]);
        foreach (((string key, string value), string found) in _values.Zip(replies))
        {
            bool isMissing = found == (key is "large" or "sorted" ? "0" : "nil");
            if (isMissing) missing.Add(key);
            else Assert.That(found, Is.EqualTo(value), key);
            if (key == "large" && !isMissing) Assert.That(client.Call("HGETALL", key).Split(' '), Has.Length.EqualTo(2 * Fields));
        }
        Assert.That(client.Call("DBSIZE"), Is.EqualTo(Text(_values.Count - missing.Count)), "there is nothing else");
        Assert.That(missing, Has.None.Matches<string>(_sure.Contains));
        return missing.Count;
    }

    private (int Lost, int Of) Proposed()
    {
        Assert.That(DataTool.Repair(Data, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data), string.Join('\n', _said));
        string price = _said.Single(static line => line.EndsWith(" would be lost.", StringComparison.Ordinal));
        string[] words = price.Split(' ');
        return (int.Parse(words[0], CultureInfo.InvariantCulture), int.Parse(words[2], CultureInfo.InvariantCulture));
    }

    private void Applied()
    {
        _said.Clear();
        Assert.That(DataTool.Repair(Data, apply: true, _said.Add, _said.Add), Is.Zero, string.Join('\n', _said));
        Assert.That(_said[^1], Does.StartWith("Done and checked"));
        AssertSound();
        Assert.That(DataTool.Repair(Data, apply: true, _said.Add, _said.Add), Is.Zero, "once is enough");
        Assert.That(_said[^1], Is.EqualTo("There is nothing to repair."));
    }

    private void AssertSound() => Assert.That(DataTool.Check(Data, _said.Add, _said.Add), Is.Zero, string.Join('\n', _said));

    private void Do(Harm harm)
    {
        string path = TierFile;
        if (harm == Harm.Removed)
        {
            File.Delete(path);
            return;
        }
        using FileStream file = new(path, FileMode.Open);
        if (harm is Harm.CutAtItsEnd or Harm.CutInTheMiddle)
            file.SetLength((harm == Harm.CutAtItsEnd ? 2 * SegmentBytes : SegmentBytes + (SegmentBytes / 2)) + (3 * PageBytes) + 100);
        if (harm == Harm.Segment) Write(file, SegmentBytes, new byte[SegmentBytes]);
        if (harm == Harm.FirstPage) Write(file, SegmentBytes, new byte[PageBytes]);
        for (int segment = 1; harm == Harm.Records && segment < 8; segment++)
        {
            for (int page = 1; page < 12; page += 3)
            {
                int at = (segment * SegmentBytes) + (page * PageBytes) + 200;
                file.Position = at;
                byte there = (byte)file.ReadByte();
                Write(file, at, [(byte)(there ^ 1)]);
            }
        }
    }

    // A record has 16 bytes of header with its kind, the owner's number, and then its key; a piece's key has a number before its root's.
    private void ForgeDatabase()
    {
        const int BlockHeadBytes = 16, TableHeadBytes = 64, DatabaseAt = 44;
        byte[] id = new byte[16];
        System.Buffers.Binary.BinaryPrimitives.WriteUInt128LittleEndian(id, UInt128.Parse(Path.GetFileName(TierFile)["tier-".Length..], NumberStyles.HexNumber, CultureInfo.InvariantCulture));
        foreach (string path in Directory.GetFiles(Data, "snapshot-*.snap"))
        {
            ForgedSnapshot file = new(File.ReadAllBytes(path));
            byte[] table = file.Blocks.Single(block => block.AsSpan(BlockHeadBytes).StartsWith(id));
            table[BlockHeadBytes + TableHeadBytes + DatabaseAt] = 9;
            File.WriteAllBytes(path, file.File());
        }
    }

    private void AssertOneVerdict()
    {
        string[] damaged = [.. _said.Where(static line => line.StartsWith("DAMAGED", StringComparison.Ordinal)).Select(static line => line.Split(':')[0]["DAMAGED".Length..].Trim())];
        Assert.That(damaged, Is.Not.Empty);
        foreach (string file in damaged) Assert.That(_said.Where(line => line.TrimStart().StartsWith(file + ":", StringComparison.Ordinal)), Is.Empty, string.Join('\n', _said));
        Assert.That(_said, Has.None.EqualTo("The directory is sound."));
    }

    private void HarmRoot(ReadOnlySpan<byte> key)
    {
        const int HeadBytes = 24, KindAt = 4, Hash = 2, UnitBytes = 16;
        byte[] bytes = File.ReadAllBytes(TierFile);
        int harmed = 0;
        for (int at = SegmentBytes; at + HeadBytes + key.Length < bytes.Length; at += UnitBytes)
        {
            if (bytes[at + KindAt] != Hash || !bytes.AsSpan(at + HeadBytes).StartsWith(key)) continue;
            bytes[at + HeadBytes] ^= 1;
            harmed++;
        }
        Assert.That(harmed, Is.EqualTo(1));
        File.WriteAllBytes(TierFile, bytes);
    }

    private static void Write(FileStream file, long at, byte[] bytes)
    {
        file.Position = at;
        file.Write(bytes);
    }

    private Dictionary<string, string> Files() => Directory.GetFiles(Data).Concat(Directory.GetFiles(Tier))
        .ToDictionary(static file => file, static file => Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(File.ReadAllBytes(file))));

    private EmbeddedServer Start(bool keepsLog = true) => new(directory: DataDirectory.Open(Data, static path => new FileDisk(path)),
        sync: AppendSync.No, adjust: settings =>
        {
            settings.Persistence.AppendOnly = keepsLog;
            (settings.Persistence.SegmentBytes, settings.Persistence.Sublogs) = (256 << 10, 1);
            (settings.Tier.Path, settings.Tier.SizeBytes, settings.Memory.MaxMemoryBytes) = (Tier, TierBytes, 64 << 20);
        });

    private static TestClient Loaded(EmbeddedServer server)
    {
        server.Server.Loaded.Await();
        return new TestClient(server.Server.Port);
    }

    private void Put(TestClient client, int from, int to)
    {
        Set(client, from, to);
        Call(client, [.. Enumerable.Range(from, to - from).Select(static i => (string[])["TIER.DEMOTE", "key:" + Text(i)])]);
    }

    private void Set(TestClient client, int from, int to)
    {
        for (int i = from; i < to; i++) _values["key:" + Text(i)] = Value(i);
        Call(client, [.. Enumerable.Range(from, to - from).Select(static i => (string[])["SET", "key:" + Text(i), Value(i)])]);
    }

    private static void Save(TestClient client)
    {
        Eventually.Holds(() => client.Call("BGSAVE").Contains("started", StringComparison.Ordinal));
        Eventually.Holds(() => client.Call("INFO", "persistence").Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
        Assert.That(client.Call("INFO", "persistence"), Does.Contain("rdb_last_bgsave_status:ok"));
    }

    private static string[] Call(TestClient client, params string[][] commands)
    {
        string[] replies = client.Pipeline(1, commands);
        Assert.That(replies, Has.None.StartsWith("ERR").And.None.StartsWith("OOM"));
        return replies;
    }

    private static string[] Pairs() => [.. Enumerable.Range(0, Fields).SelectMany(static i => new[] { "field-" + Text(i), "value-" + Text(i) })];

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Value(int i) => (Text(i) + ":").PadRight(700 + (i % 700), (char)('a' + (i % 26)));
}
