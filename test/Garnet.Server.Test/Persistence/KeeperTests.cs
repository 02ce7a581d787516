using System.Net.Sockets;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Backups;

namespace Garnet.Server.Test.Persistence;

/// <summary>What clients see of a disk that is slow, full or broken, and of a server that loads.</summary>
public sealed class KeeperTests
{
    private const int EndMs = 60_000; // what a stop cancels is cancelled at once, but for a busy machine

    [Test]
    public void A_start_says_how_many_records_came_from_which_snapshot_and_what_from_the_log_behind_it()
    {
        var disk = new MemoryDisk();
        var lines = new RecordedLines();
        using (EmbeddedServer server = Start(disk, lines: lines))
            Assert.That(server.Send("MSET a 1 b 2 c 3\r\nSAVE\r\nSET d 4\r\n", "+OK\r\n+OK\r\n+OK\r\n"), Does.StartWith("+OK"));
        Assert.That(lines.All, Has.One.StartsWith("Information Loaded: 0 log entries in 0 batches, 0 bytes, "));
        using (EmbeddedServer server = Start(disk, lines: lines))
            Assert.That(server.Send("GET d\r\n", "4\r\n"), Is.EqualTo("$1\r\n4\r\n"));
        Assert.That(lines.All, Has.One.Match("^Information Loaded: 3 records of snapshot-.+, then 1 log entries in [1-9]"));
    }

    [Test]
    public void A_reply_waits_for_the_sync_and_nobody_else_does()
    {
        var disk = new MemoryDisk();
        using var release = new ManualResetEventSlim(true);
        using var reached = new ManualResetEventSlim();
        disk.OnSync = _ =>
        {
            reached.Set();
            release.Await();
        };
        using EmbeddedServer server = Start(disk);
        using TcpClient writer = server.Connect();
        release.Reset();
        reached.Reset();
        writer.GetStream().Write("SET k v\r\nGET k\r\n"u8);
        reached.Await();
        Assert.That(server.Send("GET k\r\n", "\r\n"), Does.StartWith("$1"), "the change is seen, and other clients are served");
        Assert.That(writer.Available, Is.Zero, "the reply is held while the sync runs");
        release.Set();
        Assert.That(EmbeddedServer.Send(writer, "", "v\r\n"), Is.EqualTo("+OK\r\n$1\r\nv\r\n"));
    }

    [Test]
    public void After_a_failed_sync_nothing_is_acknowledged_writes_are_refused_and_reads_go_on()
    {
        var disk = new MemoryDisk();
        using EmbeddedServer server = Start(disk);
        Assert.That(server.Send("SET k before\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        disk.OnSync = name => throw MemoryDisk.Broken("sync", name);
        using TcpClient writer = server.Connect();
        writer.GetStream().Write("SET k after\r\n"u8);
        Assert.That(writer.GetStream().Read(new byte[100]), Is.Zero, "closed without a reply: whether the change lives is not known");
        Assert.That(server.Send("SET k again\r\n", "\r\n"), Does.StartWith("-MISCONF Errors writing to the AOF file: sync").And.Contain("Input/output error"));
        Assert.That(server.Send("GET k\r\n", "after\r\n"), Is.EqualTo("$5\r\nafter\r\n"));
        Assert.That(server.Send("INFO persistence\r\n", "garnet_aof_segments:1\r\n\r\n"), Does.Contain("aof_last_write_status:err"));
    }

    [Test]
    public void A_full_disk_refuses_writes_until_there_is_space_and_loses_nothing()
    {
        var disk = new MemoryDisk();
        using EmbeddedServer server = Start(disk);
        using var refused = new ManualResetEventSlim();
        bool full = true;
        disk.OnWrite = (name, _) =>
        {
            if (!Volatile.Read(ref full)) return;
            refused.Set();
            throw MemoryDisk.Full("write", name);
        };
        using TcpClient writer = server.Connect();
        writer.GetStream().Write("SET held 1\r\n"u8);
        refused.Await();
        // A change made before the log knows is held like the first, so the state is asked for.
        Eventually.Holds(() => server.Send("INFO persistence\r\n", "garnet_aof_segments:1\r\n\r\n").Contains("No space", StringComparison.Ordinal));
        Assert.That(server.Send("SET other 1\r\n", "\r\n"), Does.StartWith("-MISCONF"));
        Assert.That(writer.Available, Is.Zero);
        Volatile.Write(ref full, false);
        Assert.That(EmbeddedServer.Send(writer, "", "\r\n"), Is.EqualTo("+OK\r\n"), "the change that waited is kept and acknowledged now");
        Assert.That(server.Send("SET other 2\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
    }

    [Test]
    public void While_data_is_loaded_commands_get_LOADING_but_those_that_redis_allows()
    {
        var disk = new MemoryDisk();
        using var release = new ManualResetEventSlim();
        DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        disk.OnCreate = _ => release.Await();
        using var server = new EmbeddedServer(directory: directory);
        Assert.That(server.Send("GET k\r\n", "\r\n"), Is.EqualTo("-LOADING Redis is loading the dataset in memory\r\n"));
        Assert.That(server.Send("SET k v\r\n", "\r\n"), Does.StartWith("-LOADING"));
        Assert.That(server.Send("CONFIG GET appendfsync\r\n", "everysec\r\n"), Does.StartWith("*2"));
        Assert.That(server.Send("INFO persistence\r\n", "garnet_data_directory:memory\r\n\r\n"), Does.Contain("loading:1"));
        Assert.That(server.Server.Loaded.IsCompleted, Is.False);
        release.Set();
        server.Server.Loaded.Await();
        Assert.That(server.Send("SET k v\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
    }

    [Test]
    public void A_stop_while_data_is_loaded_ends_that_first_and_leaves_the_disk_as_it_is()
    {
        var disk = new MemoryDisk();
        using (EmbeddedServer server = Start(disk)) server.Send("SET a 1\r\n", "+OK\r\n");
        using var started = new ManualResetEventSlim();
        DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        EmbeddedServer? stopped = null;
        bool isCancelled = false;
        disk.OnOpen = _ =>
        {
            disk.OnOpen = null;
            started.Await();
            stopped!.Server.RequestStop();
            isCancelled = SpinWait.SpinUntil(() => stopped.Server.Keeper!.Progress.IsCancelled, EndMs);
        };
        stopped = new EmbeddedServer(directory: directory);
        started.Set();
        stopped.Dispose();
        Assert.That((isCancelled, stopped.Server.Loaded.IsCompleted), Is.EqualTo((true, false)));
        using EmbeddedServer again = Start(disk);
        Assert.That(again.Send("GET a\r\n", "1\r\n"), Is.EqualTo("$1\r\n1\r\n"));
    }

    [Test]
    public void What_was_written_is_there_after_a_restart_on_the_same_disk()
    {
        var disk = new MemoryDisk();
        using (EmbeddedServer server = Start(disk))
        {
            server.Send("SET a 1\r\nINCR a\r\nSELECT 3\r\nSET b x\r\n", "+OK\r\n:2\r\n+OK\r\n+OK\r\n");
            server.Send("SAVE\r\n", "+OK\r\n");
            server.Send("APPEND b y\r\n", ":2\r\n");
        }

        using EmbeddedServer again = Start(disk);
        Assert.That(again.Send("GET a\r\n", "2\r\n"), Is.EqualTo("$1\r\n2\r\n"));
        again.Send("SELECT 3\r\n", "+OK\r\n");
        Assert.That(again.Send("GET b\r\n", "xy\r\n"), Is.EqualTo("$2\r\nxy\r\n"));
    }

    [Test]
    public void Without_a_policy_that_syncs_whoever_waits_for_durability_asks_for_a_sync()
    {
        var disk = new MemoryDisk();
        int syncs = 0;
        disk.OnSync = _ => Interlocked.Increment(ref syncs);
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.No);
        server.Server.Loaded.Await();
        int before = Volatile.Read(ref syncs);
        Assert.That(server.Send("SET k v\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        Assert.That(server.Send("WAITAOF 1 0 0\r\n", ":1\r\n:0\r\n"), Is.EqualTo("*2\r\n:1\r\n:0\r\n"));
        Assert.That(Volatile.Read(ref syncs), Is.GreaterThan(before), "it was not said of what only the system has");
    }

    [Test]
    public void Without_a_policy_that_syncs_a_failed_sync_is_no_durability()
    {
        var disk = new MemoryDisk();
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.No);
        server.Server.Loaded.Await();
        Assert.That(server.Send("SET k v\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        disk.OnSync = name => throw MemoryDisk.Broken("sync", name);
        Assert.That(server.Send("WAITAOF 1 0 300\r\n", ":0\r\n:0\r\n"), Is.EqualTo("*2\r\n:0\r\n:0\r\n"));
    }

    [Test]
    public void A_snapshot_that_a_stop_ends_is_no_failure()
    {
        var disk = new MemoryDisk();
        var lines = new RecordedLines();
        using var begun = new ManualResetEventSlim();
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), lines: lines);
        bool isEnded = false;
        server.Server.Loaded.Await();
        server.Send("SET k v\r\n", "+OK\r\n");
        disk.OnCreate = name =>
        {
            if (!name.Contains("snapshot", StringComparison.Ordinal)) return;
            begun.Set();
            isEnded = SpinWait.SpinUntil(() => server.Server.Completion.IsCompleted || server.Server.Keeper!.Saves!.IsCancelled, EndMs);
        };
        Assert.That(server.Send("BGSAVE\r\n", "\r\n"), Does.StartWith("+"));
        begun.Await();
        server.Dispose();
        Assert.That(isEnded, Is.True);
        Assert.That(lines.All, Has.None.StartsWith("Error").And.One.StartsWith("Information The snapshot was given up"));
    }

    [Test]
    public void What_could_not_be_kept_after_it_was_imported_is_imported_by_the_next_start_that_can([Values] bool hasLog)
    {
        const int Keys = 3;
        var disk = new MemoryDisk();
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-import-");
        File.WriteAllBytes(Path.Combine(folder.FullName, "dump.rdb"), BackupBytes.Rdb(Keys));
        void Settings(ServerSettings settings) => (settings.Persistence.Directory, settings.Persistence.AppendOnly) = (folder.FullName, hasLog);
        try
        {
            for (int starts = 0; starts < 3; starts++)
            {
                using var mayFail = new ManualResetEventSlim();
                disk.OnCreate = name =>
                {
                    if (!name.Contains("snapshot", StringComparison.Ordinal)) return;
                    mayFail.Await(); // it listens until then
                    throw MemoryDisk.Broken("create", name);
                };
                using var refused = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: Settings);
                mayFail.Set();
                Assert.That(() => refused.Server.Completion.IsCompleted, Is.True.After(EndMs, 5), "no snapshot of it can be taken");
            }

            disk.OnCreate = null;
            using EmbeddedServer server = Start(disk, Settings);
            Assert.That(server.Send("DBSIZE\r\n", "\r\n"), Is.EqualTo($":{Keys}\r\n"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Test]
    public void A_stop_that_comes_while_a_snapshot_is_taken_loses_nothing_where_there_is_no_log()
    {
        const int WaitMs = 500; // for what is not to come
        var disk = new MemoryDisk();
        using var begun = new ManualResetEventSlim();
        var server = Start(disk, NoLog);
        server.Send("SET before v\r\n", "+OK\r\n");
        bool isStopping = false, isCancelled = false;
        disk.OnCreate = name =>
        {
            if (begun.IsSet || !name.Contains("snapshot", StringComparison.Ordinal)) return;
            begun.Set();
            isStopping = SpinWait.SpinUntil(() => server.Server.Keeper!.Progress.IsCancelled, EndMs);
            isCancelled = SpinWait.SpinUntil(() => server.Server.Keeper!.Saves!.IsCancelled, WaitMs);
        };
        Assert.That(server.Send("BGSAVE\r\n", "\r\n"), Does.StartWith("+"));
        begun.Await();
        server.Send("SET since v\r\n", "+OK\r\n");
        server.Dispose();
        Assert.That(isStopping, Is.True);
        using EmbeddedServer again = Start(disk, NoLog);
        Assert.That((again.Send("MGET before since\r\n", "v\r\n$1\r\nv\r\n"), isCancelled), Is.EqualTo(("*2\r\n$1\r\nv\r\n$1\r\nv\r\n", false)));
    }

    [Test]
    public void SHUTDOWN_waits_for_the_snapshot_that_runs_and_takes_its_own()
    {
        var disk = new MemoryDisk();
        using var begun = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var server = Start(disk, NoLog);
        server.Send("SET before v\r\n", "+OK\r\n");
        disk.OnCreate = name =>
        {
            if (begun.IsSet || !name.Contains("snapshot", StringComparison.Ordinal)) return;
            begun.Set();
            mayGoOn.Await();
        };
        Assert.That(server.Send("BGSAVE\r\n", "\r\n"), Does.StartWith("+"));
        begun.Await();
        server.Send("SET since v\r\n", "+OK\r\n");
        using (TestClient client = new(server.Server.Port))
        {
            client.Send("SHUTDOWN");
            Eventually.Holds(() => server.Send("INFO stats\r\n", "\r\n\r\n").Contains("total_commands_processed", StringComparison.Ordinal) && !client.HasReply);
            mayGoOn.Set();
            Assert.That(() => server.Server.Completion.IsCompleted, Is.True.After(EndMs, 5));
        }
        server.Dispose();
        using EmbeddedServer again = Start(disk, NoLog);
        Assert.That(again.Send("MGET before since\r\n", "v\r\n$1\r\nv\r\n"), Is.EqualTo("*2\r\n$1\r\nv\r\n$1\r\nv\r\n"));
    }

    [Test]
    public void Without_a_data_directory_SHUTDOWN_SAVE_says_what_SAVE_says()
    {
        using var server = new EmbeddedServer();
        string refusal = server.Send("SAVE\r\n", "\r\n");
        Assert.That(refusal, Does.Contain("--dir"));
        Assert.That(server.Send("SHUTDOWN SAVE\r\n", "\r\n"), Is.EqualTo(refusal));
    }

    private static void NoLog(ServerSettings settings) => (settings.Persistence.AppendOnly, settings.Persistence.Save) = (false, SaveRules.OfRedis);

    internal static EmbeddedServer Start(MemoryDisk disk, Action<ServerSettings>? adjust = null, RecordedLines? lines = null)
    {
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: adjust, lines: lines);
        server.Server.Loaded.Await();
        return server;
    }
}
