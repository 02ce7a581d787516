using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Writing;
using Garnet.Aof.Writing;
using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// The files of a server's directory on the real disk, as they lie there at some moment of its life, and what the store held then. Written
/// by the log itself, on one thread.
/// </summary>
internal sealed class DirectoryImage
{
    private const int Lanes = 8;

    public required IReadOnlyDictionary<string, byte[]> Files { get; init; }
    public required string State { get; init; }
    /// <summary>What the store has held after each change up to then.</summary>
    public required IReadOnlySet<string> States { get; init; }

    /// <summary>
    /// Two snapshots, then several files of the log; killed, or stopped in order. Images of some moments of one life: the last is the
    /// whole; those before it are for older copies of its files.
    /// </summary>
    public static IReadOnlyList<DirectoryImage> Live(string path, int seed, SyncPolicy sync, bool stops) =>
        Live(new FileDisk(path), seed, new DirectoryLife(sync, stops));

    public static IReadOnlyList<DirectoryImage> Live(IDisk disk, int seed, DirectoryLife life)
    {
        var images = new List<DirectoryImage>();
        var states = new HashSet<string> { "" };
        var clock = new ManualClock();
        clock.Advance(seed);
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(Lanes, life.Sublogs));
        var settings = new AofSettings { Sublogs = life.Sublogs, SealMinUs = 0, SegmentBytes = 64 << 10, Sync = life.Sync };
        using var log = new AppendOnlyLog(settings, disk, clock) { Names = directory.NameLogs };
        using var store = new TestStore(Lanes, 16 << 20, log);
        RecoveryReport report = directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
        log.Attach(store.Store);
        log.Open(report.Start with { Term = 1 });
        directory.RaiseTerm(1);
        store.Store.Logging = true;
        var random = new Random(seed);
        for (int part = 0; part < 4; part++)
        {
            for (int i = 0; i < life.Changes; i++)
            {
                store.Apply(new TestEntry(TestEntry.Put, 0, Workload.Keys[random.Next(Workload.Keys.Length)], new string((char)('a' + random.Next(26)), 4000 + random.Next(3000))));
                states.Add(store.Text());
                Turn(log);
                if (i % 3 == 0) clock.Advance(1_100_000); // and everysec syncs
            }
            images.Add(Of(disk, store, states));
            if (part < life.Snapshots) Snapshot(store, directory, log, clock);
        }
        if (life.Snapshots <= 2)
        {
            // In the last second, in the ring only.
            store.Apply(0, Workload.Keys[0], "written last");
            states.Add(store.Text());
            Turn(log);
        }
        if (life.Stops)
        {
            log.Stop();
            directory.NameEnd(log.Durable);
        }
        images.Add(Of(disk, store, states));
        log.Stop(); // the store goes first
        return images;
    }

    /// <summary>Writes the files into an empty directory.</summary>
    public static void Write(IReadOnlyDictionary<string, byte[]> files, string path)
    {
        foreach (string name in Directory.GetFiles(path)) File.Delete(name);
        foreach ((string name, byte[] bytes) in files) File.WriteAllBytes(Path.Combine(path, name), bytes);
    }

    private static DirectoryImage Of(IDisk disk, TestStore store, IReadOnlySet<string> states) => new()
    {
        Files = disk.List().ToDictionary(static name => name, name => Bytes(disk, name), StringComparer.Ordinal), State = store.Text(), States = states,
    };

    // A real file as it lies there, without what its ring would add.
    private static byte[] Bytes(IDisk disk, string name) =>
        disk is FileDisk ? File.ReadAllBytes(Path.Combine(disk.Path, name)) : WholeFile.Read(disk, name, int.MaxValue);

    internal static void Turn(AppendOnlyLog log)
    {
        log.GroupCommitter.Turn();
        foreach (Sublog sublog in log.Sublogs) sublog.Turn();
    }

    private static void Snapshot(TestStore store, DataDirectory directory, AppendOnlyLog log, ManualClock clock)
    {
        var taker = new SnapshotTaker(store.Store, directory, clock)
        {
            AwaitDurable = batch =>
            {
                log.RequireSync(batch);
                for (int turns = 0; log.Durable < batch && turns < 100; turns++)
                {
                    clock.Advance(1_100_000);
                    Turn(log);
                }
                return log.Durable >= batch;
            },
            Truncate = log.Truncate,
            Terms = static () => [],
        };
        taker.Take(new SnapshotJobOptions { Term = 1, Snapshot = new SnapshotOptions() }, new SnapshotProgress(), CancellationToken.None, out _);
    }
}
