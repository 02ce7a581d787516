using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Writing;
using Garnet.Common;
using Garnet.Common.Test;
using Garnet.Common.Test.Resp;
using Garnet.Common.Time;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Server.Test.Hostile;

/// <summary>
/// What a server has sealed with its directory's key it does not judge again: here even what it would refuse, so that it shows when it does.
/// Whoever has no key cannot change, move, leave out or add anything without all of it being judged, though every checksum holds.
/// </summary>
public sealed class SealedSnapshotTests
{
    private const int BitsOfLongBlock = 400, BitsOfLongRun = 4; // a short run changes one in so many

    private List<SavedRecord> _set = [], _hash = [], _chunks = [];
    private MemoryDisk _disk = new();
    private DirectoryKey _key = null!;

    [OneTimeSetUp]
    public void MakeValues()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call(["SADD", "s", "m1", "m2"]);
        client.Call(["HSET", "h", "f", "v"]);
        client.Call(["HSET", "c", .. Enumerable.Range(0, 1200).Select(static i => "field or value " + i)]);
        List<SavedRecord> all = SavedRecord.Of(server.Server.Store);
        (_set, _hash, _chunks) = (Of("s"), Of("h"), Of("c"));
        Assert.That((_set.Count, _hash.Count, _chunks.Count > 1), Is.EqualTo((1, 1, true)));

        List<SavedRecord> Of(string key) => [.. all.Where(record => record.Root == key)];
    }

    [SetUp]
    public void MakeKey()
    {
        _disk = new MemoryDisk();
        _key = DirectoryKey.TryMake(_disk)!;
        Assert.That(_key.IsProven);
    }

    [Test]
    public void A_sealed_file_is_read_back_and_whoever_has_no_key_reads_it_too()
    {
        byte[] file = Write(_key, _set, _hash, _chunks);
        using (Store store = NewStore()) Assert.That(Load(file, _key, store), Is.Null);
        using (Store store = NewStore()) Assert.That(Load(file, null, store), Is.Null);
        using Store other = NewStore();
        Assert.That(Load(file, DirectoryKey.TryMake(new MemoryDisk()), other), Is.Null);
        Assert.That(SavedRecord.Of(other).Select(static record => Convert.ToHexString(record.Bytes)),
            Is.EquivalentTo(((List<SavedRecord>)[.. _set, .. _hash, .. _chunks]).Select(static record => Convert.ToHexString(record.Bytes))));
    }

    [Test]
    public void Without_the_key_every_value_of_a_sealed_file_is_judged([Range(0, 2)] int hostile)
    {
        byte[] file = Write(_key, hostile == 0 ? Spoiled(_set) : _set, hostile == 1 ? Spoiled(_hash) : _hash, hostile == 2 ? Spoiled(_chunks) : _chunks);
        Assert.That(Load(file, _key), Is.Null, "the key is believed: nothing is judged");
        Assert.That(Load(file, null), Is.Not.Null);
        Assert.That(Load(file, DirectoryKey.TryMake(new MemoryDisk())), Is.Not.Null, "another directory's key");
    }

    [Test]
    public void A_changed_bit_anywhere_makes_everything_judged()
    {
        byte[] file = HostileFile();
        var random = new Random(11);
        int changed = 0;
        foreach (int part in Enumerable.Range(-2, 5))
        {
            int bytes = Part(new ForgedSnapshot(file), part).Length;
            if (part == -2) bytes = 100; // the rest of the header must be zero, whoever wrote it
            IEnumerable<int> bits = bytes > BitsOfLongBlock ? Enumerable.Range(0, BitsOfLongBlock).Select(_ => random.Next(bytes * 8)) : Enumerable.Range(0, bytes * 8);
            foreach (int bit in bits)
            {
                if (!LongRun.IsWanted && random.Next(BitsOfLongRun) != 0) continue;
                var forged = new ForgedSnapshot(file);
                Part(forged, part)[bit / 8] ^= (byte)(1 << (bit % 8));
                byte[] now = forged.File();
                if (now.AsSpan().SequenceEqual(file)) continue; // a checksum or a total, and put right
                changed++;
                Assert.That(Load(now, _key), Is.Not.Null, $"bit {bit} of part {part}");
            }
        }

        Assert.That(changed, Is.GreaterThan(LongRun.IsWanted ? 2000 : 2000 / BitsOfLongRun / 2));
    }

    [Test]
    public void Blocks_left_out_doubled_or_moved_make_everything_judged()
    {
        byte[] file = HostileFile();
        Assert.That(Load(new ForgedSnapshot(file).File(), _key), Is.Null, "nothing changed");
        for (int block = 0; block < 3; block++)
        {
            ForgedSnapshot without = new(file), doubled = new(file), moved = new(file);
            without.Blocks.RemoveAt(block);
            doubled.Blocks.Insert(block, doubled.Blocks[block]);
            moved.Blocks.Reverse(block == 2 ? 0 : block, 2);
            if (block == 2) moved.Blocks.Reverse();
            // Where the last is left out, those before it are in their places: see below.
            foreach (ForgedSnapshot forged in (ForgedSnapshot[])[doubled, moved, .. block < 2 ? [without] : Array.Empty<ForgedSnapshot>()]) Assert.That(Load(forged.File(), _key), Is.Not.Null, $"block {block}");
        }
    }

    [Test]
    public void A_block_in_another_place_is_judged_whatever_the_rest_is()
    {
        byte[] file = Write(_key, Spoiled(_set), _hash, _set);
        foreach ((int first, int count) in new[] { (0, 2), (0, 3) })
        {
            var moved = new ForgedSnapshot(file);
            moved.Blocks.Reverse(first, count);
            Assert.That(Load(moved.File(), _key), Is.Not.Null, $"{count} blocks, none of them with pieces");
        }

        var behind = new ForgedSnapshot(Write(_key, _hash, Spoiled(_set)));
        behind.Blocks.RemoveAt(0);
        Assert.That(Load(behind.File(), _key), Is.Not.Null, "one before it is left out");
    }

    [Test]
    public void A_block_that_is_left_out_at_the_end_takes_pieces_with_it_and_is_noticed()
    {
        byte[] file = Write(_key, _set, _hash, [.. _chunks.Where(static record => record.Kind != RecordKind.Chunk)], [.. _chunks.Where(static record => record.Kind == RecordKind.Chunk)]);
        Assert.That(Load(file, _key), Is.Null);
        var forged = new ForgedSnapshot(file);
        forged.Blocks.RemoveAt(3);
        Assert.That(Load(forged.File(), _key), Is.Not.Null);
    }

    [Test]
    public void Parts_of_two_own_files_make_no_own_file([Range(-2, 2)] int part)
    {
        byte[] file = HostileFile();
        ForgedSnapshot one = new(file), other = new(HostileFile());
        Part(other, part).CopyTo(Part(one, part), 0);
        Assert.That(Load(one.File(), _key), Is.Not.Null);
    }

    [Test]
    public void Only_what_is_not_our_own_is_judged_where_the_rest_is()
    {
        byte[] file = Write(_key, Spoiled(_set), _hash, _chunks);
        var forged = new ForgedSnapshot(file);
        forged.Blocks[1][^1] ^= 1; // its tag
        Assert.That(Load(forged.File(), _key), Is.Null, "the first is ours, and the second is sound");
    }

    [Test]
    public void A_check_judges_what_is_sealed_too()
    {
        using (DataDirectory directory = DataDirectory.OpenUnlocked(_disk, new DirectoryLayout(64)))
        {
            SnapshotFileFacts facts = Facts with { HashSeed = directory.Manifest.HashSeed };
            Write(_disk, facts, _key, [Spoiled(_set)]);
            directory.PublishSnapshot(facts.Name, facts.Batch, []);
        }

        Assert.That(DirectoryCheck.Run(_disk, SnapshotFiles.Instance, Progress()).IsSound, "every checksum holds");
        Assert.That(DataTool.Judge(_disk, Progress()).Single().Text, Does.Contain("not as it must be").Or.Contain("not as they must be"));
    }

    // A value that is not one in each of the three blocks, the last one in pieces.
    private byte[] HostileFile() => Write(_key, Spoiled(_set), Spoiled(_hash), Spoiled(_chunks));

    private static byte[] Part(ForgedSnapshot file, int part) => part switch { -2 => file.Header, -1 => file.Footer, _ => file.Blocks[part] };

    private static List<SavedRecord> Spoiled(List<SavedRecord> records)
    {
        List<SavedRecord> spoiled = [.. records];
        int at = records.Count == 1 ? 0 : records.FindIndex(static record => record is { Kind: RecordKind.Chunk, Number: 0 });
        byte[] value = records[at].Value;
        value.AsSpan(Math.Max(value.Length - 64, 0)).Fill(0xFF); // no single bit makes it sound again
        if (records.Count == 1) Assert.That(ValueCheck.Instance.IsSound(records[at].Kind, value), Is.False);
        spoiled[at] = records[at].With(value);
        return spoiled;
    }

    private static SnapshotFileFacts Facts => new() { Name = SnapshotFileName.Of(1), Term = 1, Batch = 1, HashSeed = 1, Partitions = 64, StartUnixUs = 1 };

    private static byte[] Write(DirectoryKey key, params List<SavedRecord>[] blocks)
    {
        var disk = new MemoryDisk();
        Write(disk, Facts, key, blocks);
        return disk.Bytes(Facts.Name);
    }

    private static void Write(MemoryDisk disk, SnapshotFileFacts facts, DirectoryKey key, List<SavedRecord>[] blocks)
    {
        using (var writer = new SnapshotWriter(disk, facts, key))
        {
            foreach (List<SavedRecord> block in blocks) writer.Write((byte[])[.. block.SelectMany(static record => record.Bytes)], block.Count);
            writer.Finish();
        }

        SnapshotWriter.Publish(disk, facts);
    }

    private static Store NewStore()
    {
        var store = new Store(new StoreSettings { MemoryLimitBytes = 16 << 20, ReserveBytes = 64 << 20, Partitions = 4, HugePages = false, BackgroundMovers = false, ValueCheck = ValueCheck.Instance });
        store.Logging = false;
        return store;
    }

    private static string? Load(byte[] file, DirectoryKey? key)
    {
        using Store store = NewStore();
        return Load(file, key, store);
    }

    // What is wrong with it; null if it was loaded.
    private static string? Load(byte[] file, DirectoryKey? key, Store store)
    {
        var disk = new MemoryDisk();
        using (IDiskFile written = disk.Create(Facts.Name, file.Length)) written.Write(0, file);
        try
        {
            SnapshotFiles.Instance.Load(disk, Facts.Name, store, Progress(), key);
            return null;
        }
        catch (GarnetException e)
        {
            Assert.That(e.Kind, Is.EqualTo(ExitKind.Data));
            return e.Message;
        }
    }

    private static JobProgress Progress() => new("loading", new ManualClock());
}
