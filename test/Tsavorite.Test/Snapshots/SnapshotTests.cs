using NUnit.Framework;

namespace Tsavorite.Test.Snapshots;

/// <summary>One situation and one result each.</summary>
internal sealed unsafe class SnapshotTests
{
    private static readonly SnapshotOptions s_slow = new() { BucketsPerHold = 1, HoldsPerStep = 1 };

    [Test]
    public void A_snapshot_of_an_empty_store_is_whole_and_empty()
    {
        using Bench bench = new();
        BlockList blocks = BlockList.Of(bench.Store);
        Assert.That((blocks.Records, blocks.Blocks.Count), Is.EqualTo((0L, 0)));
    }

    [Test]
    public void Every_field_and_kind_and_size_survives()
    {
        using Bench bench = new();
        foreach (RecordKind kind in new[] { RecordKind.String, RecordKind.Hash, RecordKind.Stream, RecordKind.Chunk })
        {
            foreach (int bytes in new[] { 0, 1, 100, 5_000, 70_000, 300_000 })
                bench.Set($"{kind}{bytes}", new byte[bytes], 0, bytes % 3 * bench.NowMs, (ulong)bytes, kind);
        }
        bench.Set("", "no key");
        bench.Set(new string('k', Store.KeyBytesMax), "the longest");
        BlockList blocks = BlockList.Of(bench.Store);
        using Store copy = new(Bench.Tiny());
        Assert.That(blocks.Load(copy), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(copy), Is.EqualTo(Content.Of(bench.Store)));
        Assert.That(blocks.Records, Is.EqualTo(26));
        Assert.That(StoreCheck.Run(copy), Is.Empty);
        EmptyBaseline.Expect(copy, 0);
    }

    [Test]
    public void Blocks_are_at_most_64_KiB_but_for_a_single_record()
    {
        using Bench bench = new();
        for (int i = 0; i < 400; i++) bench.Set("k" + i, new byte[i % 40 == 0 ? 100_000 : 3_000]);
        foreach (byte[] block in BlockList.Of(bench.Store).Blocks)
        {
            int bytes = block.Length - SnapshotLoader.SlackBytes;
            fixed (byte* start = block)
                Assert.That(bytes <= SnapshotWalk.BlockBytes || SnapshotRecord.BytesAt(start) == bytes, Is.True, $"{bytes}");
        }
    }

    [Test]
    public void U18_Writes_after_the_cut_are_not_in_it()
    {
        using Bench bench = new();
        for (int i = 0; i < 200; i++) bench.Set("k" + i, "old");
        var before = Content.Of(bench.Store);
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow))
        {
            for (int i = 0; i < 300; i++)
            {
                if (i % 3 == 0) bench.Delete("k" + i);
                else bench.Set("k" + i, i % 2 == 0 ? "new" : new string('n', 700));
            }
            BlockList blocks = new();
            while (snapshot.Step(blocks)) { }
            using Store copy = new(Bench.Tiny());
            blocks.Load(copy);
            Assert.That(Content.Of(copy), Is.EqualTo(before));
            Assert.That(snapshot.Figures.SavedRecords, Is.EqualTo(200));
        }
        Assert.That(bench.Store.Figures().Splits, Is.Positive);
    }

    [Test]
    public void Records_of_a_database_flushed_before_the_cut_are_left_out_and_of_one_flushed_after_it_are_not()
    {
        using Bench bench = new();
        uint one = bench.Store.Namespaces.Id(1);
        for (int i = 0; i < 100; i++)
        {
            bench.Set("k" + i, "zero");
            bench.Set("k" + i, [1], one);
        }
        bench.Store.Namespaces.Flush(1, wait: false);
        using StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow);
        bench.Store.Namespaces.Flush(0, wait: true);
        BlockList blocks = new();
        while (snapshot.Step(blocks)) { }
        Assert.That(blocks.Records, Is.EqualTo(100));
        using Store copy = new(Bench.Tiny());
        blocks.Load(copy);
        Assert.That(copy.Count(copy.Namespaces.Id(0)), Is.EqualTo(100));
    }

    [Test]
    public void Only_one_snapshot_runs_at_a_time()
    {
        using Bench bench = new();
        using (bench.Store.BeginSnapshot())
            Assert.That(() => bench.Store.BeginSnapshot(), Throws.InvalidOperationException);
        bench.Store.BeginSnapshot().Dispose();
    }

    [Test]
    public void A_snapshot_disposed_of_in_the_middle_leaves_nothing_behind()
    {
        using Bench bench = new();
        for (int i = 0; i < 500; i++) bench.Set("k" + i, "old");
        StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow);
        BlockList blocks = new();
        for (int i = 0; i < 10; i++) snapshot.Step(blocks);
        for (int i = 0; i < 500; i++) bench.Set("k" + i, "new");
        Assert.That(bench.Store.Figures().SnapshotBytes, Is.Positive);
        snapshot.Dispose();
        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Abandoned));
        Assert.That(snapshot.Step(blocks), Is.False);
        Assert.That(bench.Store.Figures().SnapshotBytes, Is.Zero);
        using Store copy = new(Bench.Tiny());
        BlockList.Of(bench.Store).Load(copy);
        Assert.That(Content.Of(copy), Is.EqualTo(Content.Of(bench.Store)));
    }

    // store.S5: more snapshots than stamps; none whole for longer than there are stamps.
    [Test]
    public void U18_Stamps_never_alias_over_more_snapshots_than_there_are_stamps([Values(1, 7, 1000)] int wholeEvery)
    {
        using Bench bench = new();
        for (int i = 0; i < 60; i++) bench.Set("k" + i, "at first");
        BlockList none = new();
        for (int round = 0; round < 600; round++)
        {
            using StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow);
            bench.Set("k" + round % 60, "round " + round);
            if (round % wholeEvery != 0) snapshot.Step(none);
            else
                while (snapshot.Step(none)) { }
        }
        Assert.That(bench.Store.Core.Snapshots.Restamps, wholeEvery == 1000 ? Is.Positive : Is.Zero);
        Assert.That(BlockList.Of(bench.Store).Records, Is.EqualTo(60));
        HashSet<byte> stamps = [];
        StoreCore core = bench.Store.Core;
        for (int i = 0; i < core.Shape->PartitionCount; i++)
            for (BucketCursor cursor = default; !cursor.AtEnd; cursor.MoveOn(core, core.Shape->Partitions + i))
                stamps.Add(Bucket.Stamp(cursor.Current(core, core.Shape->Partitions + i)));
        Assert.That(stamps, Has.Count.EqualTo(1), "a whole snapshot leaves one stamp");
    }

    [Test]
    public void Above_the_budget_the_store_asks_writers_to_wait_and_above_the_maximum_the_snapshot_is_given_up()
    {
        using Bench bench = new();
        for (int i = 0; i < 4000; i++) bench.Set("k" + i, new byte[200]);
        using StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow with { BufferBytes = 100_000, BufferBytesMax = 400_000 });
        int written = 0;
        while (!bench.Store.SnapshotBehind) bench.Set("k" + written++, "new");
        Assert.That(bench.Store.Figures().SnapshotBytes, Is.InRange(100_000, 200_000));
        BlockList blocks = new();
        while (bench.Store.SnapshotBehind) snapshot.Step(blocks);
        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Running));
        while (snapshot.State == SnapshotState.Running && written < 4000) bench.Set("k" + written++, "new");
        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.OutOfRoom));
        Assert.That((snapshot.Step(blocks), bench.Store.SnapshotBehind), Is.EqualTo((false, false)));
        Assert.That(bench.Store.Figures().SnapshotBytes, Is.LessThan(600_000));
    }

    [Test]
    public void A_flush_waits_for_a_snapshot_that_is_behind()
    {
        using Bench bench = new();
        for (int i = 0; i < 4000; i++) bench.Set("k" + i, new byte[200]);
        using StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow with { BufferBytes = 100_000 });
        bench.Store.Namespaces.Flush(0, wait: true);
        Assert.That(bench.Store.Figures().SnapshotBytes, Is.InRange(100_000, 200_000));
        BlockList blocks = new();
        while (snapshot.Step(blocks)) bench.Store.StepMovers(bench.NowMs);
        Assert.That((snapshot.State, blocks.Records), Is.EqualTo((SnapshotState.Whole, 4000L)));
    }

    [Test]
    public void What_the_sink_throws_comes_out_and_the_next_snapshot_is_whole()
    {
        using Bench bench = new();
        for (int i = 0; i < 100; i++) bench.Set("k" + i, "v");
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot(s_slow))
        {
            for (int i = 0; i < 100; i++) bench.Set("k" + i, "w");
            Assert.That(() => { while (snapshot.Step(new Full())) { } }, Throws.InstanceOf<IOException>());
        }
        Assert.That(BlockList.Of(bench.Store).Records, Is.EqualTo(100));
    }

    [Test]
    public void A_damaged_block_is_refused_and_never_read_beyond()
    {
        using Bench bench = new();
        for (int i = 0; i < 30; i++) bench.Set("k" + i, "value"u8.ToArray(), etag: (ulong)i % 2);
        BlockList good = BlockList.Of(bench.Store);
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Random random = new(seed);
        byte[] block = good.Blocks[0];
        using Store store = new(Bench.Tiny());
        using SnapshotLoader loader = new(store);
        for (int i = 0; i < 20_000; i++)
        {
            byte[] bad = (byte[])block.Clone();
            for (int flips = random.Next(1, 4); flips > 0; flips--) bad[random.Next(bad.Length)] = (byte)random.Next(256);
            loader.Load(bad.AsSpan(0, random.Next(bad.Length - SnapshotLoader.SlackBytes)));
        }
        Assert.That(loader.Load(block.AsSpan(0, 5)), Is.EqualTo(LoadOutcome.Damaged));
        Assert.That(StoreCheck.Run(store), Is.Empty);
    }

    [Test]
    public void A_store_too_small_says_so_and_how_far_it_came()
    {
        using Bench bench = new();
        for (int i = 0; i < 4000; i++) bench.Set("k" + i, new byte[1000]);
        BlockList blocks = BlockList.Of(bench.Store);
        using Store small = new(Bench.Tiny() with { MemoryLimitBytes = 1 << 20 });
        using SnapshotLoader loader = new(small);
        LoadOutcome outcome = LoadOutcome.Done;
        foreach (byte[] block in blocks.Blocks.TakeWhile(_ => outcome == LoadOutcome.Done))
            outcome = loader.Load(block.AsSpan(0, block.Length - SnapshotLoader.SlackBytes));
        Assert.That(outcome, Is.EqualTo(LoadOutcome.OutOfMemory));
        Assert.That(loader.Records, Is.EqualTo(small.Count(small.Namespaces.Id(0))));
        Assert.That(loader.Records, Is.InRange(200, 2000));
    }

    private sealed class Full : ISnapshotSink
    {
        public void Write(ReadOnlySpan<byte> block, int records) => throw new IOException("the disk is full");
    }
}
