using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
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
/// Values of an enemy, under checksums that hold: from a peer's full copy, a snapshot's file, a peer's log, a log's file. Each is refused,
/// or is a value that every command works with, is still one afterwards, and leaves the store sound.
/// </summary>
[Parallelizable(ParallelScope.All)] // each of the fuzzers runs for a set time, and what they share is only read
public sealed class HostileValueTests
{
    private const int EntriesMax = 400, RoundsMin = 100; // whatever a busy machine does in the time

    private readonly Dictionary<string, List<SavedRecord>> _saved = [];
    private readonly Dictionary<string, List<LogEntry>> _logged = [];

    [OneTimeSetUp]
    public void MakeSoundValues()
    {
        var log = new RecordingLog();
        using var server = new EmbeddedServer(log);
        using var client = new TestClient(server.Server.Port);
        foreach (string[] command in ValueKinds.Makers()) Assert.That(client.Call(command), Does.Not.StartWith("ERR"), string.Join(' ', command.Take(4)));
        foreach (SavedRecord record in SavedRecord.Of(server.Server.Store)) Under(_saved, record.Root).Add(record);
        foreach (LogEntry entry in log.Entries())
        {
            List<LogEntry> entries = Under(_logged, Encoding.Latin1.GetString(entry.Key));
            if (entries.Count < EntriesMax) entries.Add(entry);
        }
    }

    /// <summary>Reproduced by a review: the replica ended at HGETALL.</summary>
    [Test]
    public void A_piece_that_points_outside_itself_is_refused([Values] bool fromPeer)
    {
        AssertRefused("h:chunks", fromPeer, static value => value.AsSpan(value.Length - 32, 32).Fill(0xFF)); // the offsets of the first sixteen entries
    }

    /// <summary>Reproduced by a review: HGET did not end, under the partition's lock.</summary>
    [Test]
    public void A_count_that_no_piece_can_have_is_refused([Values] bool fromPeer)
    {
        AssertRefused("h:chunks", fromPeer, static value => BinaryPrimitives.WriteInt32LittleEndian(value, int.MaxValue));
    }

    /// <summary>Found by the fuzzer: COPY asked for 2^31 chunks that no stream has, for minutes.</summary>
    [Test]
    public void A_stream_that_claims_a_set_of_chunks_it_cannot_have_is_refused([Values] bool fromPeer)
    {
        AssertRefused("x:plain", fromPeer, static value => value[7] |= (byte)(RootLimit.ThirdSet >> 24), static record => record.Kind == RecordKind.Stream);
    }

    [Test]
    public void What_a_server_has_written_is_sound([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed, [Values(0, 200, 1024, 65_536)] int packedBytes)
    {
        using var server = new EmbeddedServer();
        server.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        var random = new RandomCommands(seed);
        using var client = new TestClient(server.Server.Port);
        client.Call(["HSET", "", .. Enumerable.Range(0, 900).Select(static i => "field or value " + i)]);
        for (int round = 0; round < (LongRun.IsWanted ? 4 : 2); round++)
        {
            var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
            for (int i = 0; i < 5_000; i++) random.AddTo(text);
            text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
            server.Send(text.ToString(), "+OK\r\n");
            using var copy = new EmbeddedServer();
            Assert.That(LoadFromFile(copy.Server.Store, SavedRecord.Of(server.Server.Store)), Is.Null, $"round {round}");
            Assert.That(StoreCheck.Run(copy.Server.Store), Is.Empty, $"round {round}");
        }
    }

    [Test]
    public void Many_pages_are_sound([Values("RPUSH", "ZADD")] string command)
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 2300; i++)
        {
            string element = i + new string('p', 4500);
            client.Call(command == "ZADD" ? [command, "z", "1", element] : [command, "l", element]);
        }

        using var copy = new EmbeddedServer();
        Assert.That(LoadFromFile(copy.Server.Store, SavedRecord.Of(server.Server.Store)), Is.Null);
    }

    [Test]
    public void A_hostile_snapshot_is_refused_or_its_values_are_sound([Values] bool fromPeer)
    {
        var random = new Random(FuzzStream.Seed + (fromPeer ? 1 : 0));
        Run(random, [.. _saved.Keys], (store, key) =>
        {
            List<SavedRecord> records = [.. _saved[key]];
            int spoiled = random.Next(3) == 0 ? records.FindIndex(static record => record.Kind != RecordKind.Chunk) : random.Next(records.Count);
            records[spoiled] = records[spoiled].With(Spoiler.Spoil(records[spoiled].Value, random));
            return fromPeer ? LoadFromPeer(store, records) : LoadFromFile(store, records, isSealed: random.Next(2) == 0);
        });
    }

    [Test]
    public void A_hostile_log_is_refused_or_its_values_are_sound()
    {
        var random = new Random(FuzzStream.Seed + 2);
        ReplayTable table = CommandFamilies.Replay();
        Run(random, [.. _logged.Keys], (store, key) =>
        {
            List<LogEntry> entries = _logged[key];
            // What puts raw bytes is rare among the entries, and the most interesting.
            List<int> raw = [.. Enumerable.Range(0, entries.Count).Where(i => table.IsPart(entries[i].OpId) || entries[i].OpId == 7)];
            HashSet<int> spoiled = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => raw.Count > 0 && random.Next(2) == 0 ? raw[random.Next(raw.Count)] : random.Next(entries.Count))];
            return Apply(store, table, [.. entries.Select((entry, i) => Encode(entry, spoiled.Contains(i) ? Spoiler.Spoil(entry.Arguments, random) : entry.Arguments))]);
        });
    }

    [Test]
    public void A_hostile_file_of_the_log_ends_the_start_with_a_message_or_its_values_are_sound()
    {
        var random = new Random(FuzzStream.Seed + 3);
        ReplayTable table = CommandFamilies.Replay();
        Run(random, [.. _logged.Keys], (store, key) =>
        {
            List<LogEntry> entries = _logged[key];
            int spoiled = random.Next(2) == 0 ? random.Next(entries.Count) : -1;
            MemoryDisk disk = ForgedLog.Disk([.. entries.Select((entry, i) => Encode(entry, i == spoiled ? Spoiler.Spoil(entry.Arguments, random) : entry.Arguments))], random);
            try
            {
                using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
                var settings = new RecoverySettings { Threads = 2, OnCorruption = random.Next(3) == 0 ? CorruptionPolicy.Truncate : CorruptionPolicy.Refuse };
                directory.Recover(store, table, settings, SnapshotFiles.Instance, new JobProgress("loading", new ManualClock()));
                return null;
            }
            catch (GarnetException e)
            {
                Assert.That(e.Kind, Is.EqualTo(ExitKind.Data), e.Message);
                Assert.That((e.Message, e.Next), Is.Not.EqualTo(("", "")));
                return e.Message;
            }
        });
    }

    [Test]
    public void A_check_judges_values_and_says_where_the_first_bad_ones_lie()
    {
        var disk = new MemoryDisk();
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(64)))
        {
            foreach (ulong batch in (ulong[])[1, 2])
            {
                List<SavedRecord> records = [.. _saved["h:chunks"]];
                int piece = records.FindIndex(static record => record is { Kind: RecordKind.Chunk, Number: 0 });
                byte[] value = records[piece].Value;
                value.AsSpan(value.Length - 32, 32).Fill(0xFF);
                records[piece] = records[piece].With(value);
                Write(disk, Facts with { Name = SnapshotFileName.Of(batch), Batch = batch, HashSeed = directory.Manifest.HashSeed }, records);
                directory.PublishSnapshot(SnapshotFileName.Of(batch), batch, []);
            }
        }

        Assert.That(DirectoryCheck.Run(disk, SnapshotFiles.Instance, new JobProgress("checking", new ManualClock())).IsSound, "every checksum holds");
        IReadOnlyList<CheckFinding> found = DataTool.Judge(disk, new JobProgress("checking", new ManualClock()));
        Assert.That(found.Select(static finding => finding.File), Is.EqualTo((string[])[SnapshotFileName.Of(1), SnapshotFileName.Of(2)]));
        Assert.That(found.Select(static finding => finding.Text), Has.All.Contain("not as it must be"));
        Assert.That(found.Select(static finding => finding.Text), Has.None.Contains("snapshot-"), "the line has named it");
        List<byte[]> entries = [.. _logged["l:pages"].Select(static entry => Encode(entry, entry.Arguments))];
        entries[^1][4] = 250; // an operation that there is none of
        MemoryDisk log = ForgedLog.Whole(entries);
        Assert.That(DataTool.Judge(log, new JobProgress("checking", new ManualClock())).Single().Text, Does.Contain("aof-00-00000000000000000001.log, offset").And.Contain("operation 250"));
    }

    /// <summary>Who removes such a member would leave it behind, and the counts would differ.</summary>
    [TestCase("h:moved", 7)]
    [TestCase("s:packed", 0)]
    [TestCase("z:packed", 3)]
    public void A_member_that_stands_twice_in_a_packed_value_is_refused(string key, int seed)
    {
        List<SavedRecord> records = [.. _saved[key].Where(static record => record.Kind != RecordKind.Chunk)];
        byte[] value = records[0].Value;
        Assert.That(ValueCheck.Instance.IsSound(records[0].Kind, value), "as it was written");
        int refused = 0;
        var random = new Random(seed);
        for (int round = 0; round < 20_000 && refused == 0; round++)
        {
            // Two names become one wherever they differ in one byte only: 'm1' and 'm2'.
            byte[] twice = [.. value];
            int[] names = [.. Enumerable.Range(0, value.Length - 1).Where(i => value[i] is (byte)'m' or (byte)'f' && value[i + 1] is (byte)'1' or (byte)'2')];
            if (names.Length < 2) break;
            int from = names[random.Next(names.Length)], to = names[random.Next(names.Length)];
            if (value[from + 1] == value[to + 1]) continue;
            twice[to + 1] = value[from + 1];
            if (!ValueCheck.Instance.IsSound(records[0].Kind, twice)) refused++;
        }

        Assert.That(refused, Is.Positive);
    }

    private static void Run(Random random, string[] keys, Func<Store, string, string?> fill)
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        Store store = server.Server.Store;
        int taken = 0, refused = 0;
        for (long began = Stopwatch.GetTimestamp(); taken + refused < RoundsMin || Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds;)
        {
            string key = keys[random.Next(keys.Length)];
            store.PauseExpiry(true); // as while a snapshot is loaded
            string? fault = fill(store, key);
            if (fault is null)
            {
                store.PauseExpiry(false);
                Use(client, store, key, taken);
                taken++;
            }
            else
            {
                refused++;
            }

            client.Call("FLUSHALL");
        }

        TestContext.Out.WriteLine($"{taken} taken, {refused} refused");
        Assert.That(refused, Is.Positive);
    }

    private static void Use(TestClient client, Store store, string key, int round)
    {
        foreach (string command in ValueKinds.Reads(key).Concat(ValueKinds.ReadsOfAny)) Call(client, command, key);
        Assert.That(IsSound(store, key), $"{key} is sound after it was read");
        foreach (string command in ValueKinds.Writes(key))
        {
            Call(client, command, key);
            if (!IsSound(store, key)) Assert.Fail($"{key} is not sound after {command}");
        }

        foreach (string command in ValueKinds.Reads(key)) Call(client, command, key);
        if (round % 20 == 0) Assert.That(StoreCheck.Run(store), Is.Empty, key);
    }

    private static void Call(TestClient client, string command, string key)
    {
        try
        {
            client.Call([.. command.Split(' ').Select(word => word == "K" ? key : word)]);
        }
        catch (IOException e)
        {
            Assert.Fail($"{command} of {key}: {e.Message}");
        }
    }

    private static unsafe bool IsSound(Store store, string key)
    {
        using StoreSession session = store.OpenSession();
        byte[] bytes = [.. Encoding.Latin1.GetBytes(key), .. new byte[32]];
        fixed (byte* start = bytes) return session.IsSound(store.Key(start, key.Length, store.Namespaces.Id(0)));
    }

    private void AssertRefused(string key, bool fromPeer, Action<byte[]> spoil, Predicate<SavedRecord>? which = null)
    {
        List<SavedRecord> records = [.. _saved[key]];
        int piece = records.FindIndex(which ?? (static record => record is { Kind: RecordKind.Chunk, Number: 0 }));
        byte[] value = records[piece].Value;
        spoil(value);
        records[piece] = records[piece].With(value);
        using var server = new EmbeddedServer();
        Assert.That(fromPeer ? LoadFromPeer(server.Server.Store, records) : LoadFromFile(server.Server.Store, records), Does.Contain("not as it must be"));
    }

    private static SnapshotFileFacts Facts => new() { Name = SnapshotFileName.Of(1), Term = 1, Batch = 1, HashSeed = 1, Partitions = 64, StartUnixUs = 1 };

    private static byte[] Block(List<SavedRecord> records) => [.. records.SelectMany(static record => record.Bytes)];

    private static void Write(MemoryDisk disk, SnapshotFileFacts facts, List<SavedRecord> records, DirectoryKey? key = null)
    {
        using (var writer = new SnapshotWriter(disk, facts, key))
        {
            writer.Write(Block(records), records.Count);
            writer.Finish();
        }

        SnapshotWriter.Publish(disk, facts);
    }

    // Sealed: as whoever forges one does that, with another key than the directory's.
    private static string? LoadFromFile(Store store, List<SavedRecord> records, bool isSealed = false)
    {
        var disk = new MemoryDisk();
        Write(disk, Facts, records, isSealed ? DirectoryKey.TryMake(new MemoryDisk()) : null);
        try
        {
            SnapshotFiles.Instance.Load(disk, Facts.Name, store, new JobProgress("loading", new ManualClock()), DirectoryKey.TryMake(disk));
            return null;
        }
        catch (GarnetException e)
        {
            Assert.That(e.Kind, Is.EqualTo(ExitKind.Data));
            Assert.That(e.Message, Does.Contain(Facts.Name));
            return e.Message;
        }
    }

    private static string? LoadFromPeer(Store store, List<SavedRecord> records)
    {
        var stream = new Stream();
        var outlet = new SnapshotOutlet(stream, Facts.Batch);
        outlet.Write(Block(records), records.Count);
        using var inlet = new SnapshotInlet(store, null, Facts);
        return inlet.Block(stream.Bytes) ?? inlet.End(outlet.Footer());
    }

    // One batch in one lane, as a primary would send it.
    private static string? Apply(Store store, ReplayTable table, List<byte[]> entries)
    {
        byte[] body = [.. new byte[LaneRow.Bytes], .. entries.SelectMany(static entry => entry)];
        new LaneRow(0, (uint)entries.Count, (uint)(body.Length - LaneRow.Bytes)).Write(body);
        byte[] part = [.. new byte[BatchHeader.Bytes], .. body];
        new BatchHeader
        {
            Kind = BatchKind.Data, Term = 1, Batch = 1, SealedUnixUs = 1, Parts = 1, Lanes = 1, BodyBytes = (uint)body.Length, Entries = (uint)entries.Count, BodyCrc = Crc32C.Of(body),
        }.Write(part);
        var start = new LogPosition(1, 0, [0u]);
        var intake = new BatchIntake(start);
        using var state = new AppliedState();
        using var applier = new BatchApplier(store, table, 0, state, start);
        Assert.That(intake.Take(part, out BatchBytes? batch), Is.Null);
        applier.Add(batch!);
        applier.Turn();
        Assert.That(state.Number, Is.EqualTo(applier.Failure is null ? 1UL : 0), "what is refused is not published");
        return applier.Failure;
    }

    private static byte[] Encode(LogEntry entry, ReadOnlySpan<byte> arguments)
    {
        byte[] bytes = [.. new byte[EntryHeader.Bytes], .. entry.Key, .. arguments];
        new EntryHeader((uint)bytes.Length, entry.OpId, (ushort)entry.Key.Length, Math.Max(entry.Database, 0)).Write(bytes);
        return bytes;
    }

    private static List<T> Under<T>(Dictionary<string, List<T>> lists, string key)
    {
        if (!lists.TryGetValue(key, out List<T>? list)) lists[key] = list = [];
        return list;
    }

    private sealed class Stream : ISnapshotStream
    {
        public byte[] Bytes { get; private set; } = [];

        public void Block(ReadOnlySpan<byte> header, ReadOnlySpan<byte> records) => Bytes = [.. header, .. records];
    }
}
