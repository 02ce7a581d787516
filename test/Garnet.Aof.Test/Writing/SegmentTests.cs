using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Writing;
using NUnit.Framework;

namespace Garnet.Aof.Test.Writing;

/// <summary>The files of a sublog: where they begin and end, how they follow each other, when they go.</summary>
internal sealed class SegmentTests
{
    [Test]
    public void A_flipped_bit_anywhere_in_a_file_header_is_noticed()
    {
        const int Meant = 88; // bytes that mean something
        Span<byte> block = stackalloc byte[FileHeader.Bytes];
        new FileHeader
        {
            Sublog = 0, Sublogs = 1, FirstBatch = 7, Term = 3, Lanes = 64, HashSeed = 5, PreviousCrc = 9, HasTail = true, Run = new string('r', 36), TailNumber = 11,
        }.Write(block);
        Assert.That(FileHeader.TryRead(block, out _), Is.EqualTo(HeaderState.Whole));
        for (int bit = 0; bit < Meant * 8; bit++)
        {
            block[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.That(FileHeader.TryRead(block, out _), Is.Not.EqualTo(HeaderState.Whole), $"bit {bit}");
            block[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Test]
    public void A_segment_name_is_read_back_and_other_names_are_not()
    {
        string name = LogFileName.Of(3, 42);
        Assert.That(name, Is.EqualTo("aof-03-00000000000000000042.log"));
        Assert.That(LogFileName.TryParse(name, out int sublog, out ulong first), Is.True);
        Assert.That((sublog, first), Is.EqualTo((3, 42UL)));
        foreach (string other in (string[])["", "manifest", "aof-3-42.log", name + "x", name.Replace('0', '+')])
            Assert.That(LogFileName.TryParse(other, out _, out _), Is.False, other);
    }

    [Test]
    public void The_chain_holds_across_segments_and_sublogs([Values(1, 2, 5)] int sublogs)
    {
        using Bench bench = new(settings =>
        {
            settings.Sublogs = sublogs;
            settings.SegmentBytes = 16 << 10;
        });
        for (int i = 0; i < 40; i++) bench.PutDurably("key:" + i, new string('v', i * 37));
        List<DecodedBatch> batches = bench.Stopped();
        Assert.That(batches.Sum(static batch => batch.Entries.Count), Is.EqualTo(40));
        Assert.That(batches.Select(static batch => batch.Number),
            Is.EqualTo(Enumerable.Range(1, batches.Count).Select(static i => (ulong)i)));
        Assert.That(bench.Log.Figures().Segments, Is.GreaterThanOrEqualTo(5 * sublogs));
        Assert.That(bench.Log.Figures().FirstBatch, Is.EqualTo(1));
    }

    [Test]
    public void An_entry_larger_than_a_chunk_and_a_segment_has_room_of_its_own()
    {
        using Bench bench = new(static settings => settings.SegmentBytes = 8 << 10);
        byte[] large = new byte[1 << 20];
        new Random(5).NextBytes(large);
        bench.PutDurably("before");
        bench.AwaitDurable(bench.Put("large", large));
        bench.PutDurably("behind");
        List<DecodedEntry> entries = [.. bench.Stopped().SelectMany(static batch => batch.Entries)];
        Assert.That(entries.Select(static entry => entry.Key.Length), Is.EqualTo((int[])[6, 5, 6]));
        Assert.That(entries[1].Arguments, Is.EqualTo(large));
    }

    [Test]
    public void A_log_goes_on_behind_the_last_batch_recovered_in_a_file_of_its_own()
    {
        using Bench bench = new(start: new AofStart(9, 41, [0xABCD], 16, 7));
        Assert.That((bench.Log.Batch, bench.Log.Written, bench.Log.Durable), Is.EqualTo((42UL, 41UL, 41UL)));
        bench.PutDurably("key");
        bench.Log.Stop();
        DecodedBatch first = BatchDecoder.Read(bench.Disk, 1, chainFrom: 0xABCD)[0];
        Assert.That((first.Number, first.Header.Term, first.Header.PreviousCrc), Is.EqualTo((42UL, 9U, 0xABCDU)));
        Assert.That(FileHeader.TryRead(bench.Disk.Bytes(LogFileName.Of(0, 42)), out FileHeader file), Is.EqualTo(HeaderState.Whole));
        Assert.That((file.Lanes, file.HashSeed, file.PreviousCrc), Is.EqualTo((16U, 7UL, 0xABCDU)));
    }

    [Test]
    public void What_an_earlier_run_left_behind_the_last_batch_is_replaced()
    {
        var disk = new MemoryDisk();
        disk.Create(LogFileName.Of(0, 1), 100).Dispose();
        var segments = new SegmentList(disk);
        segments.Load();
        using var pool = new Garnet.Aof.Lanes.ChunkPool();
        using var writer = new SegmentWriter(new LogPieces(disk, segments, pool, new SublogPlace(0, 1, new AofStart(1, 0, [], 1, 7))), 8192);
        writer.Switch(1, 0, 1, FileCaching.Direct);
        Assert.That(disk.List(), Has.Count.EqualTo(1));
        Assert.That(FileHeader.TryRead(disk.Bytes(disk.List()[0]), out _), Is.EqualTo(HeaderState.Whole));
    }

    [Test]
    public void A_file_is_synced_before_its_successor_exists_and_durable_with_its_name_before_a_batch_is_in_it()
    {
        using Bench bench = new(static settings =>
        {
            settings.SegmentBytes = 8 << 10;
            settings.Sync = SyncPolicy.No;
        });
        var steps = new List<string>();
        bench.Disk.OnCreate = _ => Note("create");
        bench.Disk.OnSync = _ => Note("sync");
        bench.Disk.OnWrite = (_, offset) => Note(offset == 0 ? "header" : "write");
        for (int i = 0; i < 2; i++)
        {
            ulong batch = bench.Put("key" + i, new string('v', 3000));
            bench.Log.Demand(batch);
            bench.AwaitWritten(batch);
        }
        Assert.That(steps, Is.EqualTo((string[])["write", "sync", "create", "header", "sync", "write"]));

        void Note(string step)
        {
            lock (steps) steps.Add(step);
        }
    }

    [Test]
    public void Truncation_deletes_whole_files_below_the_bound_and_never_the_open_one()
    {
        using Bench bench = new(static settings => settings.SegmentBytes = 8 << 10); // one batch each
        for (int i = 0; i < 5; i++) bench.PutDurably("key" + i);
        Assert.That(bench.Disk.List(), Has.Count.EqualTo(5));
        bench.Log.Truncate(3);
        Assert.That(bench.Log.Figures().FirstBatch, Is.EqualTo(3));
        bench.Log.Truncate(ulong.MaxValue);
        Assert.That(bench.Disk.List(), Is.EqualTo((string[])[LogFileName.Of(0, 5)]));
        bench.PutDurably("one more");
        Assert.That(bench.Log.Poison, Is.Null);
    }

    [Test]
    public void Truncation_knows_the_files_of_sublogs_no_longer_written()
    {
        var disk = new MemoryDisk();
        foreach ((int sublog, ulong first) in ((int, ulong)[])[(0, 1), (1, 1), (1, 7), (0, 10)])
            disk.Create(LogFileName.Of(sublog, first), 100).Dispose();
        var segments = new SegmentList(disk);
        segments.Load();
        segments.Truncate(9, sublogs: 1, lastOfEarlierRuns: 9);
        Assert.That(disk.List(), Is.EqualTo((string[])[LogFileName.Of(0, 1), LogFileName.Of(0, 10), LogFileName.Of(1, 7)]));
        segments.Truncate(10, sublogs: 1, lastOfEarlierRuns: 9);
        Assert.That(disk.List(), Is.EqualTo((string[])[LogFileName.Of(0, 10)]));
    }

    [Test]
    public void A_disk_that_fails_at_the_start_is_the_callers_to_know()
    {
        var disk = new MemoryDisk { OnCreate = static name => throw MemoryDisk.Broken("create", name) };
        using var log = new AppendOnlyLog(new AofSettings(), disk, new ManualClock());
        using var store = new Tsavorite.Store(new Tsavorite.StoreSettings { Partitions = 4, Log = log });
        log.Attach(store);
        Assert.Throws<DiskException>(() => log.Start(new AofStart(1, 0, [], 4, 7)));
    }
}
