using System.Diagnostics;
using Garnet.Aof.Disk;
using Garnet.Aof.Snapshots;
using Garnet.Media;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>Snapshot files that name what lies on a tier.</summary>
public sealed unsafe class NamedSnapshotTests
{
    private string _directory = "";

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("named").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [Test]
    public void A_file_that_names_is_checked_and_loaded_and_the_tier_is_not_read([Values(1, 3)] int threads)
    {
        StoreFigures figures = Reload(keys: 60_000, memoryMiB: 8, tierMiB: 64, threads, out SnapshotFileFacts facts, out _);
        Assert.That((facts.NamesSegments, facts.TierId), Is.EqualTo((true, new MediumId(0, 77))));
        Assert.That(facts.References, Is.GreaterThan(20_000UL));
        Assert.That((figures.Tier!.Reads, figures.Tier.Records), Is.EqualTo((0L, (long)facts.References)));
    }

    [Test, Explicit("a measurement: wants 3 GB of disk, and cores that nobody else uses")]
    public void Ten_million_cold_keys()
    {
        Reload(keys: 10_000_000, memoryMiB: 512, tierMiB: 3000, threads: 0, out SnapshotFileFacts facts, out long ms);
        TestContext.Out.WriteLine($"{facts.References} references of {facts.Records} records, loaded in {ms} ms");
        Assert.That(ms, Is.LessThan(5000));
    }

    private StoreFigures Reload(int keys, int memoryMiB, int tierMiB, int threads, out SnapshotFileFacts facts, out long ms)
    {
        FileDisk disk = new(_directory);
        using (FileMedium medium = FileMedium.Keep(_directory, new MediumId(0, 77), (long)tierMiB << 20, 16))
        {
            using Store store = new(Settings(medium, memoryMiB));
            Fill(store, keys);
            facts = SnapshotJob.Run(store, disk, new SnapshotJobOptions(), new StepClock(1), CancellationToken.None).Facts;
            SnapshotWriter.Publish(disk, facts);
            medium.Settle();
        }
        facts = SnapshotReader.Check(disk, facts.Name);
        using FileMedium again = FileMedium.Keep(_directory, new MediumId(0, 77), (long)tierMiB << 20, 16);
        again.Settle();
        using Store loaded = new(Settings(again, memoryMiB));
        loaded.SetMemoryLimit(0);
        long began = Stopwatch.GetTimestamp();
        Assert.That(SnapshotReader.Load(disk, facts.Name, loaded, threads: threads).Outcome, Is.EqualTo(LoadOutcome.Done));
        ms = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        Assert.That(loaded.Count(loaded.Namespaces.Id(0)), Is.EqualTo(keys));
        return loaded.Figures();
    }

    private static void Fill(Store store, int keys)
    {
        uint ns = store.Namespaces.Id(0);
        using StoreSession session = store.OpenSession();
        byte* key = stackalloc byte[64];
        byte[] value = new byte[200];
        for (int i = 0; i < keys; i++)
        {
            *(long*)key = i;
            BitConverter.TryWriteBytes(value, i);
            Filled.Put put = new() { Value = value };
            while (session.Modify(store.Key(key, 8, ns), ref put) == Outcome.OutOfMemory) store.StepMovers(1);
        }
    }

    // No two of the first 60,000 keys share partition, bucket and tag under this seed: of two that do (5 has such), one that is loaded behind the other's name is told from
    // it by a read, and which is loaded first is up to the threads.
    private static StoreSettings Settings(IMedium medium, int memoryMiB) => new()
    {
        BackgroundMovers = false, Partitions = 4, HashSeed = 17, HugePages = false, MemoryLimitBytes = (long)memoryMiB << 20, ReserveBytes = 4L << 30,
        Tier = medium, TierId = new MediumId(0, 77), IndexBuckets = 16,
    };
}
