using NUnit.Framework;
using Tsavorite.Test.Snapshots;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test;

/// <summary>Records with chunks: what an edit does to them, and what becomes of chunks whose root is gone.</summary>
public sealed class ChunkTests
{
    [Test]
    public void An_edit_writes_root_and_chunks_and_reads_them_again([Values(1, 2, 3)] int seed, [Values] bool tiered)
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(tiered ? TieredBench.Settings(medium) : null);
        var random = new Random(seed);
        var model = new Dictionary<(string Key, uint Number), byte[]>();
        for (int i = 0; i < 4000; i++)
        {
            string key = "root" + random.Next(5);
            var edit = new ChunkEdit { Number = RootLimit.NumberOf((uint)random.Next(3), (uint)random.Next(8)), Bytes = new byte[random.Next(1, 900)], Removes = random.Next(5) == 0 };
            random.NextBytes(edit.Bytes);
            if (random.Next(100) == 0)
            {
                bench.Delete(key);
                foreach ((string Key, uint Number) gone in model.Keys.Where(chunk => chunk.Key == key).ToArray()) model.Remove(gone);
                continue;
            }
            Assert.That(bench.Session.Edit(bench.Key(key), ref edit), Is.EqualTo(Outcome.Done));
            if (edit.Removes) model.Remove((key, edit.Number));
            else model[(key, edit.Number)] = edit.Bytes;
            if (random.Next(20) == 0) bench.Store.StepMovers(bench.NowMs);
            if (tiered && random.Next(20) == 0) bench.Demote();
        }
        Check(bench, model);
        bench.StepUntilIdle();
        Check(bench, model);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Chunks_go_with_their_root_however_it_ends([Values("delete", "overwrite", "expire", "flush")] string end, [Values] bool tiered)
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(tiered ? TieredBench.Settings(medium) : null);
        Fill(bench, "root", 100);
        if (tiered) bench.Demote();
        Assert.That(Chunks(bench), Is.EqualTo(100));
        if (end == "delete") bench.Delete("root");
        else if (end == "overwrite") bench.Set("root", "a string");
        else if (end == "flush") bench.Store.Namespaces.Flush(0, wait: false);
        else
        {
            bench.Fields("root", bench.NowMs + 10, 0);
            Assert.That(Chunks(bench), Is.EqualTo(100), "an expiry of the root leaves the chunks alone");
            bench.NowMs += 100;
        }
        if (end != "flush") Assert.That(bench.Text("root"), Is.EqualTo(end == "overwrite" ? "a string" : null));
        bench.StepUntilIdle();
        Assert.That(Chunks(bench), Is.Zero);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_snapshot_has_a_root_with_its_chunks_and_no_orphans()
    {
        using Bench bench = new();
        Fill(bench, "kept", 50);
        Fill(bench, "gone", 60);
        bench.Delete("gone");
        var sink = new BlockList();
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot())
        {
            Fill(bench, "kept", 50, fill: 9); // after the cut
            bench.Delete("kept");
            bench.StepUntilIdle();
            while (snapshot.Step(sink)) { }
            Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Whole));
        }
        using Bench loaded = new(Bench.Tiny() with { Partitions = 8, HashSeed = 4711 });
        Assert.That(sink.Load(loaded.Store), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Chunks(loaded), Is.EqualTo(50));
        Assert.That(StoreCheck.Run(loaded.Store), Is.Empty);
        var model = Enumerable.Range(0, 50).ToDictionary(static i => ("kept", Number(i)), static i => Enumerable.Repeat((byte)i, 100).ToArray());
        Check(loaded, model);
        loaded.Delete("kept");
        loaded.StepUntilIdle();
        Assert.That(Chunks(loaded), Is.Zero);
    }

    private static uint Number(int chunk) => RootLimit.NumberOf((uint)chunk % 3, (uint)chunk);

    private static void Fill(Bench bench, string key, int chunks, byte fill = 0)
    {
        for (int i = 0; i < chunks; i++)
        {
            var edit = new ChunkEdit { Number = Number(i), Bytes = [.. Enumerable.Repeat((byte)(i + fill), 100)] };
            Assert.That(bench.Session.Edit(bench.Key(key), ref edit), Is.EqualTo(Outcome.Done));
        }
    }

    private static void Check(Bench bench, Dictionary<(string Key, uint Number), byte[]> model)
    {
        foreach (((string key, uint number), byte[] bytes) in model)
        {
            var look = new ChunkCopy { Number = number };
            Assert.That(bench.Session.Examine(bench.Key(key), ref look), Is.EqualTo(Outcome.Done));
            Assert.That(look.Bytes, Is.EqualTo(bytes), $"{key} {number}");
        }
    }

    private static unsafe int Chunks(Bench bench)
    {
        int chunks = 0;
        for (int i = 0; i < bench.Store.Partitions; i++)
            for (uint ns = 0; ns < bench.Store.Core.Shape->Partitions[i].CountsMax; ns++) chunks += bench.Store.Core.Shape->Partitions[i].Counts[ns].Chunks;
        return chunks;
    }
}

/// <summary>Writes or removes one chunk of a root, making the root if need be.</summary>
internal unsafe struct ChunkEdit : IEdit
{
    public uint Number;
    public byte[] Bytes;
    public bool Removes;

    public static byte OpId => 210;
    public readonly long EncodedBytesMax => 0;

    public readonly bool Run(ref RecordEdit edit)
    {
        if (!edit.Exists)
        {
            *(ulong*)edit.Create(RecordKind.Hash, 8) = 0;
            edit.Close();
            edit.TakeOwner();
        }
        if (Removes) edit.RemoveChunk(Number);
        else Bytes.CopyTo(new Span<byte>(edit.WriteChunk(Number, Bytes.Length), Bytes.Length));
        edit.Write(8 + (int)(Number % 3 * 8));
        edit.Close();
        edit.RaiseLimit(Number);
        return true;
    }

    public readonly int Encode(Span<byte> to) => 0;

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
}

/// <summary>Copies a chunk.</summary>
internal unsafe struct ChunkCopy : IExamine
{
    public uint Number;
    public byte[]? Bytes;

    public void Look(ref RecordEdit record)
    {
        byte* chunk = record.Chunk(Number, out int bytes);
        Bytes = chunk == null ? null : new ReadOnlySpan<byte>(chunk, bytes).ToArray();
    }
}
