using System.Globalization;
using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Common.Test;
using Garnet.Server.Backups;
using Garnet.Server.Test.Persistence;

namespace Garnet.Server.Test.Backups;

/// <summary>When backups are taken, what is in them, which are kept, and that a server goes on whatever becomes of them.</summary>
internal sealed class BackupJobTests
{
    private const int KeysTogether = 50, DayMs = 24 * 3600 * 1000;

    [Test]
    public void A_backup_under_writes_is_of_one_moment()
    {
        using BackupStage stage = new();
        using TestClient writer = stage.Connect();
        using var stop = new CancellationTokenSource();
        Task<int> writes = Task.Run(() => Write(writer, stop.Token));
        Eventually.Holds(() => stage.Client.Call("EXISTS", "round") == "1");
        for (int i = 0; i < 3; i++)
        {
            stage.Take();
            using EmbeddedServer restored = stage.Restored();
            using TestClient reader = new(restored.Server.Port);
            string round = reader.Call("GET", "round");
            for (int key = 0; key < KeysTogether; key++)
                Assert.That((reader.Call("GET", $"k{key}"), reader.Call("HGET", $"h{key}", "f")), Is.EqualTo((round, round)), $"{key}");
        }

        stop.Cancel();
        Assert.That(writes.InTime(), Is.GreaterThan(3));
    }

    [Test]
    public void All_that_a_server_holds_is_in_it([Values] bool isEncrypted)
    {
        using BackupStage stage = new(adjust: settings => settings.Backups.KeyFile = isEncrypted ? KeyFile() : "");
        Fill(stage.Client);
        stage.Take();
        Assert.That(stage.Backups.Known.Select(static one => (one.Header.IsEncrypted, one.Trailer.Databases)), Is.EqualTo(new[] { (isEncrypted, 4) }));
        using EmbeddedServer restored = stage.Restored(stage.Server.Settings.Backups.KeyFile);
        Assert.That(BackupStage.DigestOf(restored.Server), Is.EqualTo(BackupStage.DigestOf(stage.Server)));
        using TestClient reader = new(restored.Server.Port);
        Assert.That(reader.Call("FCALL", "twice", "0", "21"), Is.EqualTo("42"));
        Assert.That(stage.Backups.Known[0].Trailer.Keys, Is.EqualTo(KeysOf(restored.Server)));
    }

    [Test]
    public void What_lies_on_a_tier_is_in_it_and_stays_there()
    {
        string tier = Directory.CreateTempSubdirectory("garnet-backup-tier").FullName;
        try
        {
            using BackupStage stage = new(adjust: settings => (settings.Tier.Path, settings.Tier.SizeBytes) = (tier, 64 << 20));
            Fill(stage.Client);
            foreach (string key in (string[])["s", "h", "big"]) stage.Client.Call("TIER.DEMOTE", key);
            Assert.That(stage.Client.Call("TIER.WHERE", "big"), Does.StartWith("[where tier"));
            stage.Take();
            Assert.That(stage.Client.Call("TIER.WHERE", "big"), Does.StartWith("[where tier"));
            using EmbeddedServer restored = stage.Restored();
            Assert.That(BackupStage.DigestOf(restored.Server), Is.EqualTo(BackupStage.DigestOf(stage.Server)));
        }
        finally
        {
            Directory.Delete(tier, recursive: true);
        }
    }

    [Test]
    public void Backups_are_taken_when_they_are_due_also_over_a_restart()
    {
        using BackupStage stage = new(adjust: static settings => settings.Backups.EverySeconds = DayMs / 1000);
        Eventually.Holds(() => stage.Info("garnet_backups") == "0");
        for (int taken = 0; taken < 2; taken++)
        {
            stage.Clock.ShiftMs += DayMs - 60_000;
            stage.Backups.StartIfDue();
            Assert.That((stage.Backups.IsRunning, stage.Backups.Taken), Is.EqualTo((false, (long)taken)), "not yet");
            stage.Clock.ShiftMs += 60_000;
            Eventually.Holds(() => stage.Backups.Taken == taken + 1 && !stage.Backups.IsRunning);
        }

        stage.Client.Call("CONFIG", "SET", "backup-every", "0"); // two servers in one directory would remove what the other one begins
        using var again = new EmbeddedServer(clock: stage.Clock, adjust: settings => (settings.Backups.Path, settings.Backups.EverySeconds) = (stage.Folder, DayMs / 1000));
        BackupJob backups = again.Server.Context.Backups;
        Eventually.Holds(() => backups.Known.Count == 2);
        stage.Clock.ShiftMs += DayMs - 60_000;
        backups.StartIfDue();
        Assert.That((backups.IsRunning, backups.Taken), Is.EqualTo((false, 0L)), "its last one was taken before it started");
        stage.Clock.ShiftMs += 60_000;
        Eventually.Holds(() => backups.Taken == 1);
    }

    [Test]
    public void The_oldest_goes_once_a_newer_one_is_there_and_nothing_else()
    {
        string[] others = ["backup-20200101T000000Z.grnb", "notes.txt", "backup-20200101T000000Z.txt"];
        using BackupStage stage = new(adjust: static settings => settings.Backups.Keep = 2, there: others);
        for (int i = 0; i < 4; i++)
        {
            stage.Take();
            stage.Clock.ShiftMs += 10_000;
        }

        Assert.That(stage.Backups.Known, Has.Count.EqualTo(2));
        Assert.That(stage.Files, Is.SupersetOf(others).And.Length.EqualTo(others.Length + 2));
        Assert.That(stage.Log.All.Count(static line => line.Contains("older backups were removed")), Is.EqualTo(2));
    }

    [Test]
    public void The_last_good_one_stays_though_a_clock_that_was_set_back_calls_it_the_oldest()
    {
        using BackupStage stage = new(adjust: static settings => settings.Backups.Keep = 1);
        stage.Take();
        stage.Clock.ShiftMs -= DayMs;
        stage.Take();
        Assert.That(stage.Backups.Known.Select(static one => one.Header.CreatedMs), Is.EqualTo(new[] { stage.Backups.LastOkMs }));
        Assert.That(stage.Backups.LastOkMs, Is.LessThan(stage.Clock.UnixMs + (DayMs / 2)));
    }

    [Test]
    public void Two_of_one_second_have_names_of_their_own()
    {
        using BackupStage stage = new();
        long second = stage.Clock.UnixMs % 1000;
        stage.Clock.ShiftMs -= second; // its beginning
        stage.Take();
        stage.Take();
        Assert.That(stage.Files, Has.Length.EqualTo(2));
    }

    [TestCase("create")]
    [TestCase("write")]
    [TestCase("sync")]
    [TestCase("rename")]
    public void A_disk_that_fails_costs_one_backup_and_nothing_else(string step)
    {
        bool isHarmed = false;
        using BackupStage stage = new(inner =>
        {
            var disk = new HarmedDisk(inner, step, static name => name.StartsWith("backup-", StringComparison.Ordinal), Harm.Full);
            if (isHarmed) disk.Arm();
            return disk;
        });
        stage.Take();
        string[] before = stage.Files;
        stage.Clock.ShiftMs += 10_000;
        isHarmed = true;
        stage.Take();
        Assert.That(stage.Files, Is.EqualTo(before));
        Assert.That((stage.Info("garnet_backup_failures"), stage.Info("garnet_backups")), Is.EqualTo(("1", "1")));
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("No space left on device"));
        Assert.That(stage.Log.All.Count(static line => line.StartsWith("Error No backup", StringComparison.Ordinal)), Is.EqualTo(1));
        Assert.That(stage.Client.Call("SET", "k", "v"), Is.EqualTo("OK"));
        isHarmed = false;
        stage.Take();
        Assert.That((stage.Info("garnet_backup_last_error"), stage.Info("garnet_backups"), stage.Files.Length), Is.EqualTo(("", "2", 2)));
    }

    [Test]
    public void A_file_that_reads_back_otherwise_is_no_backup()
    {
        using BackupStage stage = new(static inner => new RottenDisk(inner));
        stage.Client.Call("SET", "k", new string('x', 5000));
        stage.Take();
        Assert.That(stage.Files, Is.Empty);
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("its checksum is wrong"));
        Assert.That(stage.Log.All.Single(static line => line.Contains("No backup")), Does.StartWith("Error"));
    }

    [Test]
    public void What_a_killed_process_has_left_goes_at_the_start_and_nothing_else()
    {
        using BackupStage stage = new(there: ["backup-20200101T000000Z.grnb.tmp", "mine.tmp"]);
        Eventually.Holds(() => stage.Files.Length == 1);
        Assert.That(stage.Files, Is.EqualTo(new[] { "mine.tmp" }));
    }

    [Test]
    public void A_directory_that_is_gone_is_an_error_that_passes()
    {
        using BackupStage stage = new();
        stage.Take();
        Directory.Delete(stage.Folder, recursive: true);
        stage.Take();
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("no such directory"));
        Assert.That(stage.Log.All.Single(static line => line.StartsWith("Error", StringComparison.Ordinal)), Does.Contain("mkdir -m 700"));
        Directory.CreateDirectory(stage.Folder);
        stage.Take();
        Assert.That((stage.Info("garnet_backup_last_error"), stage.Info("garnet_backups")), Is.EqualTo(("", "1")));
    }

    [Test]
    public void Without_its_key_there_is_no_backup_and_none_that_is_plain()
    {
        using BackupStage stage = new(adjust: static settings => settings.Backups.KeyFile = "/nowhere/key");
        stage.Take();
        Assert.That(stage.Files, Is.Empty);
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("/nowhere/key has no key for backups"));
    }

    [Test]
    public void A_key_that_cannot_be_read_is_told_at_the_start()
    {
        using BackupStage stage = new(adjust: static settings => settings.Backups.KeyFile = "/nowhere/key");
        Eventually.Holds(() => stage.Log.All.Any(static line => line.StartsWith("Error", StringComparison.Ordinal) && line.Contains("/nowhere/key has no key for backups")));
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("/nowhere/key"));
    }

    [Test]
    public void A_key_that_others_may_read_is_warned_of_once()
    {
        string path = KeyFile();
        Allow(path, UnixFileMode.UserRead | UnixFileMode.OtherRead);
        using BackupStage stage = new(adjust: settings => settings.Backups.KeyFile = path);
        stage.Take();
        stage.Take();
        Assert.That(stage.Log.All.Count(static line => line.StartsWith("Warning Others than its owner may read", StringComparison.Ordinal)), Is.EqualTo(1));
    }

    [Test]
    public void One_is_taken_at_a_time_and_a_stop_ends_it()
    {
        using var gate = new ManualResetEventSlim();
        using (BackupStage stage = new(inner => new HeldDisk(inner, gate)))
        {
            Assert.That(stage.Client.Call("BACKUP", "NOW"), Is.EqualTo("Background backup started"));
            Assert.That(stage.Client.Call("BACKUP", "NOW"), Is.EqualTo("ERR Background backup already in progress"));
            Assert.That(stage.Client.Call("BACKUP", "STATUS"), Does.StartWith("[state writing"));
            Assert.That(stage.Client.Call("SET", "k", "v"), Is.EqualTo("OK"));
            Task<bool> interrupting = Task.Run(() =>
            {
                stage.Backups.Interrupt();
                return true;
            });
            gate.Set();
            Assert.That(interrupting.InTime(), Is.True);
            Assert.That((stage.Files, stage.Info("garnet_backup_last_error")), Is.EqualTo((Array.Empty<string>(), "it was given up, as the server stops or gets other data")));
            stage.Take();
            Assert.That(stage.Files, Has.Length.EqualTo(1));
        }
    }

    [Test]
    public void A_backup_that_is_asked_for_while_another_one_is_interrupted_is_taken()
    {
        using var first = new ManualResetEventSlim();
        using var second = new ManualResetEventSlim();
        int opened = 0; // at the start, and for each backup
        using BackupStage stage = new(inner =>
        {
            int turn = Interlocked.Increment(ref opened);
            if (turn > 1) (turn == 2 ? first : second).Await();
            return inner;
        });
        Assert.That(stage.Client.Call("BACKUP", "NOW"), Is.EqualTo("Background backup started"));
        Eventually.Holds(() => Volatile.Read(ref opened) == 2);
        var interrupting = new Thread(stage.Backups.Interrupt);
        interrupting.Start();
        Eventually.Holds(() => interrupting.ThreadState.HasFlag(ThreadState.WaitSleepJoin)); // for the first one
        first.Set();
        Assert.That(SpinWait.SpinUntil(() => stage.Backups.TryStart() == BackupStart.Started, 60_000), Is.True);
        Assert.That(interrupting.Join(60_000), Is.True, "it does not wait for the second one");
        second.Set();
        stage.Await();
        Assert.That((stage.Info("garnet_backup_last_error"), stage.Info("garnet_backup_failures"), stage.Files.Length), Is.EqualTo(("", "1", 1)));
    }

    [Test]
    public void Writers_do_not_wait_for_the_disk_of_a_backup()
    {
        const int Keys = 9000, Bytes = 10_000, PerRequest = 100; // more than is saved for a backup
        using var gate = new ManualResetEventSlim();
        HeldDisk? disk = null;
        using BackupStage stage = new(inner => disk = new HeldDisk(inner, gate), static settings => settings.Memory.MaxMemoryBytes = 220 << 20);
        Fill("a");
        Assert.That(stage.Client.Call("BACKUP", "NOW"), Is.EqualTo("Background backup started"));
        Eventually.Holds(() => disk is { IsAsked: true });
        Fill("b");
        gate.Set();
        stage.Await();
        Assert.That(stage.Info("garnet_backup_last_error"), Does.Contain("writers changed more meanwhile"));
        Assert.That(stage.Files, Is.Empty);

        void Fill(string letter)
        {
            string value = new(letter[0], Bytes);
            for (int from = 0; from < Keys; from += PerRequest)
                Assert.That(stage.Client.Call(["MSET", .. Enumerable.Range(from, PerRequest).SelectMany(i => (string[])[$"k{i}", value])]), Is.EqualTo("OK"));
        }
    }

    [Test]
    public void The_list_tells_of_each()
    {
        using BackupStage stage = new();
        stage.Client.Call("SET", "k", "v");
        stage.Take();
        StoredBackup one = stage.Backups.Known[0];
        string created = DateTimeOffset.FromUnixTimeMilliseconds(one.Header.CreatedMs).UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);
        long bytes = new FileInfo(stage.Newest).Length;
        Assert.That(stage.Client.Call("BACKUP", "LIST"), Is.EqualTo($"[[name {one.Name} bytes {bytes} created {created} keys 1 encrypted 0]]"));
    }

    [Test]
    public void Nothing_is_written_of_a_backup_that_is_not_sound_or_on_a_dry_run()
    {
        using BackupStage stage = new();
        Fill(stage.Client);
        stage.Take();
        string directory = Path.Combine(stage.Folder, "new");
        var said = new List<string>();
        var place = new PersistenceSettings { Directory = directory };
        Assert.That(BackupTool.Restore(stage.Newest, place, "", isDryRun: true, said.Add, static _ => { }), Is.Zero);
        Assert.That((Directory.Exists(directory), string.Join(' ', said)), Is.EqualTo((false, string.Join(' ', said))));
        Assert.That(string.Join(' ', said), Does.Contain($"{stage.Backups.Known[0].Trailer.Keys} keys").And.Contain("would become"));
        byte[] bytes = File.ReadAllBytes(stage.Newest);
        bytes[bytes.Length / 2] ^= 1;
        File.WriteAllBytes(stage.Newest, bytes);
        Assert.That(() => BackupTool.Restore(stage.Newest, place, "", isDryRun: false, said.Add, static _ => { }), Throws.TypeOf<GarnetException>().With.Property("Kind").EqualTo(ExitKind.Data));
        Assert.That(Directory.Exists(directory), Is.False);
    }

    private static long KeysOf(RespServer server) => Enumerable.Range(0, 4).Sum(database => server.Store.Count(server.Store.Namespaces.Id(database)));

    private static string KeyFile()
    {
        string path = Path.Combine(TestContext.CurrentContext.WorkDirectory, $"{TestContext.CurrentContext.Test.ID}.key");
        File.Delete(path);
        File.WriteAllBytes(path, BackupBytes.Key);
        Allow(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }

    private static void Allow(string path, UnixFileMode mode)
    {
        if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(path, mode);
    }

    private static int Write(TestClient to, CancellationToken stop)
    {
        int round = 0;
        for (; !stop.IsCancellationRequested; round++)
        {
            string text = round.ToString(CultureInfo.InvariantCulture);
            to.Pipeline(1, [["MULTI"], .. Enumerable.Range(0, KeysTogether).SelectMany(key => (string[][])[["SET", $"k{key}", text], ["HSET", $"h{key}", "f", text]]),
                ["SET", "round", text], ["EXEC"]]);
        }

        return round;
    }

    // Something of every type, in databases, with times, and what RDB itself has no form for.
    private static void Fill(TestClient to)
    {
        string[][] commands =
        [
            ["SET", "s", "v"], ["SET", "timed", "v", "PXAT", "4000000000000"], ["SETWITHETAG", "tagged", "v"], ["SET", "big", new string('x', 300_000)],
            ["RPUSH", "l", "1", "2", new string('y', 5000)], ["SADD", "set", "a", "b"], ["SADD", "numbers", "1", "2", "3"],
            ["HSET", "h", "f", "v", "g", "w"], ["HPEXPIREAT", "h", "4000000000000", "FIELDS", "1", "f"],
            ["ZADD", "z", "1", "a", "2.5", "b"], ["ZPEXPIREAT", "z", "4000000000000", "MEMBERS", "1", "a"], ["PFADD", "log", "a", "b"], ["SETBIT", "bits", "1000", "1"],
            ["GEOADD", "places", "13.4", "52.5", "berlin"], ["XADD", "stream", "1-1", "f", "v"], ["XADD", "stream", "2-1", "f", "v"], ["XGROUP", "CREATE", "stream", "g", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "stream", ">"], ["SELECT", "3"], ["SET", "s", "of database 3"], ["SELECT", "0"],
            ["FUNCTION", "LOAD", "#!lua name=sums\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)"],
        ];
        foreach (string[] command in commands) Assert.That(to.Call(command), Does.Not.StartWith("ERR"), command[0]);
        to.Call(["SADD", "large set", .. Enumerable.Range(0, 3000).Select(static i => $"member {i}")]);
        to.Call(["HSET", "large hash", .. Enumerable.Range(0, 6000).Select(static i => $"word {i}")]);
    }

    /// <summary>A disk that gives back another byte than it got.</summary>
    private sealed class RottenDisk(IDisk inner) : IDisk
    {
        public string Path => inner.Path;

        public IReadOnlyList<string> List() => inner.List();

        public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => inner.Create(name, bytes, caching);

        public IDiskFile Open(string name)
        {
            using (IDiskFile file = inner.Open(name))
            {
                byte[] one = new byte[1];
                file.Read(file.Length / 2, one);
                one[0] ^= 1;
                file.Write(file.Length / 2, one);
            }

            return inner.Open(name);
        }

        public void Rename(string from, string to) => inner.Rename(from, to);

        public void Delete(string name) => inner.Delete(name);

        public void SyncDirectory() => inner.SyncDirectory();
    }

    /// <summary>A disk that writes once it is let.</summary>
    private sealed class HeldDisk(IDisk inner, ManualResetEventSlim gate) : IDisk
    {
        private volatile bool _isAsked;

        /// <summary>True once it is to write something.</summary>
        public bool IsAsked => _isAsked;

        public string Path => inner.Path;

        public IReadOnlyList<string> List() => inner.List();

        public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => new HeldFile(this, inner.Create(name, bytes, caching));

        public IDiskFile Open(string name) => inner.Open(name);

        public void Rename(string from, string to) => inner.Rename(from, to);

        public void Delete(string name) => inner.Delete(name);

        public void SyncDirectory() => inner.SyncDirectory();

        private sealed class HeldFile(HeldDisk disk, IDiskFile file) : IDiskFile
        {
            public long Length => file.Length;

            public int Alignment => file.Alignment;

            public void Write(long offset, ReadOnlySpan<byte> bytes)
            {
                disk._isAsked = true;
                disk.Await();
                file.Write(offset, bytes);
            }

            public int Read(long offset, Span<byte> to) => file.Read(offset, to);

            public void Sync() => file.Sync();

            public void SetLength(long bytes) => file.SetLength(bytes);

            public void Dispose() => file.Dispose();
        }

        private void Await() => gate.Await();
    }
}
