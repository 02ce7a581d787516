using System.Diagnostics;
using System.Globalization;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Test.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>How fast a log is read back: 2 million changes of 64-byte values in batches of 200, through the page cache.</summary>
public sealed class RecoveryRate
{
    private const int Entries = 2_000_000, PerBatch = 200, ValueBytes = 64, Lanes = 64;

    [Test, Explicit("a measurement")]
    public void Replay_of_two_million_changes([Values(1, 2)] int threads)
    {
        string path = Directory.CreateTempSubdirectory("garnet-rate-").FullName;
        try
        {
            Write(path);
            Measure(path, 1, null);
            Measure(path, threads, "replay");
            ReadOnly(path);
        }
        finally
        {
            Directory.Delete(path, true);
        }
    }

    private static void Write(string path)
    {
        var disk = new PlainDisk(path);
        ManifestFile.Publish(disk, new Manifest { HashSeed = 77, Lanes = Lanes, Sublogs = 1, Term = 1 });
        using var builder = new LogBuilder(disk, new LogPlan(1, Lanes, FileBytes: 64 << 20));
        string value = new('v', ValueBytes);
        for (int i = 0; i < Entries; i += PerBatch)
        {
            builder.Add([.. Enumerable.Range(i, PerBatch).Select(n =>
                new TestEntry(TestEntry.Put, 0, "key:" + n.ToString("D8", CultureInfo.InvariantCulture), value))]);
            builder.Write();
        }
    }

    private static void Measure(string path, int threads, string? name)
    {
        using var store = new TestStore(Lanes, 1L << 30);
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(new PlainDisk(path)), threads: threads);
        Assert.That(report.Entries, Is.EqualTo(Entries));
        double seconds = report.ElapsedMs / 1000.0;
        if (name is null) return;
        TestContext.Out.WriteLine($"{name}, {threads} threads: {report.Bytes / 1e6:F0} MB, " +
            $"{Entries / seconds / 1e6:F2} million entries/s, {report.Bytes / seconds / 1e9:F3} GB/s");
    }

    private static void ReadOnly(string path)
    {
        long started = Stopwatch.GetTimestamp(), bytes = 0;
        using var reader = new LogReader(new PlainDisk(path), 1, 0);
        while (reader.Next()) bytes += reader.Cursors[0].Part.End - reader.Cursors[0].Part.Offset;
        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        TestContext.Out.WriteLine($"reading and checking alone: {bytes / seconds / 1e9:F3} GB/s");
    }
}
