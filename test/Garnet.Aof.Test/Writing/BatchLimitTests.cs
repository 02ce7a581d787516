using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Aof.Reading;
using Garnet.Aof.Shipping;
using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Writing;

/// <summary>One number for how long a batch can be, for who writes and who reads (log.L5).</summary>
internal sealed class BatchLimitTests
{
    [Test]
    public void A_batch_takes_what_is_announced_up_to_its_limit_and_not_a_byte_more()
    {
        using var pool = new ChunkPool();
        using var lanes = new LaneSet(16, 1, 1 << 20, pool);
        int calls = 0;
        lanes.OnLong(() => calls++);
        Assert.That(lanes.TryAnnounce(1, LogLimits.BatchBytesMax - 1), Is.True);
        Assert.That(lanes.IsVeryLong && lanes.IsLong, Is.True);
        Assert.That(lanes.TryAnnounce(1, 2), Is.False);
        Assert.That(lanes.TryAnnounce(1, 1), Is.True, "what was refused does not count");
        Assert.That(lanes.TryAnnounce(1, 1), Is.False);
        Assert.That(calls, Is.GreaterThan(0), "the group committer hears of it");
        Assert.That(lanes.TryAnnounce(2, LogLimits.BatchBytesMax), Is.True, "the next batch has room of its own");
        lanes.Raise();
        Assert.That(lanes.TryAnnounce(2, LogLimits.BatchBytesMax), Is.True, "which begins when it is opened");
    }

    [Test]
    public void What_writers_may_put_into_a_part_is_what_readers_take()
    {
        long tableBytes = (ushort.MaxValue + 1L) * LaneRow.Bytes;
        Assert.That(LogLimits.BatchBytesMax + tableBytes, Is.LessThan(LogLimits.PartBodyBytesMax));
        Assert.That(LogLimits.StepBytesMaxDefault, Is.LessThanOrEqualTo(LogLimits.StepBytesMaxMost));
        Assert.That(LogLimits.StepBytesMaxMost, Is.LessThanOrEqualTo(LogLimits.BatchBytesMax));
        Assert.That(LogLimits.StepBytesMaxDefault, Is.GreaterThan(Store.ValueBytesMax + Store.KeyBytesMax + 100), "the longest value fits");
    }

    [TestCase(0, ExpectedResult = false)]
    [TestCase(1, ExpectedResult = true)]
    public bool A_header_that_says_more_than_a_part_can_have_is_refused(int above)
    {
        var header = new BatchHeader { Kind = BatchKind.Data, Term = 1, Batch = 1, SealedUnixUs = 1, Parts = 1, BodyBytes = (uint)(LogLimits.PartBodyBytesMax + above) };
        byte[] part = new byte[BatchHeader.Bytes];
        header.Write(part);
        using var intake = new Intake();
        return intake.Fault(part)!.Contains("longer than a batch can be", StringComparison.Ordinal);
    }

    // While a change waits for the lock, the batch it was announced for goes on to be the one it is written to.
    [Test]
    public void Large_values_of_many_writers_at_once_are_in_batches_that_are_read_back()
    {
        const int Writers = 4, Each = 12, Bytes = 1 << 20;
        using Bench bench = new(static settings => settings.StagingBytesMax = 256 << 20);
        var threads = Enumerable.Range(0, Writers).Select(writer => new Thread(() =>
        {
            using StoreSession session = bench.Store.OpenSession();
            for (int i = 0; i < Each; i++) bench.Put(session, $"{writer}:{i % 2}", new byte[Bytes + i]);
        })).ToList();
        threads.ForEach(static thread => thread.Start());
        threads.ForEach(static thread => thread.Await());
        List<DecodedBatch> batches = bench.Stopped();
        Assert.That(batches.Sum(static batch => batch.Entries.Count), Is.EqualTo(Writers * Each));
    }

    [Test]
    public void A_large_change_that_waits_for_room_in_a_batch_does_not_wait_for_a_log_that_is_over([Values] LogEnd end)
    {
        using Bench bench = new();
        if (end == LogEnd.Failed)
        {
            bench.Disk.OnSync = static name => throw MemoryDisk.Broken("sync", name);
            bench.Put("lost");
            Bench.Until(() => bench.Log.Poison != null, "the log is poisoned");
        }
        Assert.That(bench.Log.TryAnnounce(bench.Log.Batch, LogLimits.BatchBytesMax), Is.True, "others have taken all the room");
        using var began = new ManualResetEventSlim();
        Exception? refused = null;
        var writer = new Thread(() =>
        {
            using StoreSession session = bench.Store.OpenSession();
            began.Set();
            try
            {
                bench.Put(session, "large", new byte[IWriteLog.UnannouncedBytesMax * 2]);
            }
            catch (Garnet.Common.Faults.TooLargeException e)
            {
                refused = e;
            }
        }) { IsBackground = true };
        writer.Start();
        began.Await();
        if (end == LogEnd.Stopped) bench.Log.Stop();
        else if (end == LogEnd.Replaced) bench.Store.SetLog(null);
        Assert.That(writer.Join(Bench.PatienceMs), Is.True, "it waits for ever");
        if (end == LogEnd.Replaced) Assert.That(refused, Is.Null, "it is as any change without a log, whenever it came");
        else Assert.That(refused?.Message, Does.Contain("has ended or failed"));
    }

    public enum LogEnd
    {
        Stopped, Failed, Replaced,
    }

    private sealed class Intake : IDisposable
    {
        private readonly BatchIntake _intake = new(new LogPosition(1, 0, [0]));

        public string? Fault(byte[] part) => _intake.Take(part, out _);

        public void Dispose() => _intake.Drop();
    }
}
