using Garnet.Aof.Disk;
using Garnet.Aof.Format;
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

    /// <summary>
    /// Two snapshots, then several files of the log; killed, or stopped in order. Images of some moments of one life: the last is the
    /// whole; those before it are for older copies of its files.
    /// </summary>
    public static IReadOnlyList<DirectoryImage> Live(string path, int seed, SyncPolicy sync, bool stops)
    {
        var images = new List<DirectoryImage>();
        var clock = new ManualClock();
        clock.Advance(seed);
        var disk = new FileDisk(path);
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(Lanes, 1));
        var settings = new AofSettings { Sublogs = 1, SealMinUs = 0, SegmentBytes = 64 << 10, Sync = sync };
        using var log = new Aof(settings, disk, clock) { Names = directory.NameLogs };
        using var store = new TestStore(Lanes, 16 << 20, log);
        RecoveryReport report = directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
        log.Attach(store.Store);
        log.Open(report.Start with { Term = 1 });
        directory.RaiseTerm(1);
        store.Store.Logging = true;
        var random = new Random(seed);
        for (int part = 0; part < 4; part++)
        {
            for (int i = 0; i < 12; i++)
            {
                store.Apply(new TestEntry(TestEntry.Put, 0, Workload.Keys[random.Next(Workload.Keys.Length)], new string((char)('a' + random.Next(26)), 4000 + random.Next(3000))));
                Turn(log);
                if (i % 3 == 0) clock.Advance(1_100_000); // and everysec syncs
            }
            images.Add(Of(path, store));
            if (part < 2) Snapshot(store, directory, log, clock);
        }
        // In the last second, in the ring only.
        store.Apply(0, Workload.Keys[0], "written last");
        Turn(log);
        if (stops)
        {
            log.Stop();
            directory.NameEnd(log.Durable);
        }
        images.Add(Of(path, store));
        log.Stop(); // the store goes first
        return images;
    }

    /// <summary>Writes the files into an empty directory.</summary>
    public static void Write(IReadOnlyDictionary<string, byte[]> files, string path)
    {
        foreach (string name in Directory.GetFiles(path)) File.Delete(name);
        foreach ((string name, byte[] bytes) in files) File.WriteAllBytes(Path.Combine(path, name), bytes);
    }

    private static DirectoryImage Of(string path, TestStore store) => new()
    {
        Files = Directory.GetFiles(path).ToDictionary(static name => Path.GetFileName(name), File.ReadAllBytes, StringComparer.Ordinal), State = store.Text(),
    };

    private static void Turn(Aof log)
    {
        log.Sealer.Turn();
        foreach (Sublog sublog in log.Sublogs) sublog.Turn();
    }

    private static void Snapshot(TestStore store, DataDirectory directory, Aof log, ManualClock clock)
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
