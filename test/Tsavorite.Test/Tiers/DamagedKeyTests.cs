using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Keys whose records on the tier are damaged: whoever sets or removes one whatever it holds is done with it, and nobody else loses anything (store.C11).</summary>
internal sealed unsafe class DamagedKeyTests
{
    private const int Keys = 300, Bytes = 100, Eio = 5;

    private static readonly string[] Harmed = ["k7", "k8", "k9"];

    [Test]
    public void Whoever_removes_or_sets_one_whatever_it_holds_is_done_with_it_and_the_others_stay()
    {
        using SimulatedMedium medium = new(1 << 20);
        Told told = new();
        using Bench bench = new(TieredBench.Settings(medium) with { TierObserver = told });
        bench.Cold(Keys, Bytes);
        uint ns = bench.Store.Namespaces.Id(0);
        foreach (string key in Harmed) Harm(bench, medium, key);
        foreach (string key in Harmed) Assert.That(() => bench.Get(key), Throws.TypeOf<GarnetException>());
        Assert.That(() => bench.Append("k7", [1]), Throws.TypeOf<GarnetException>(), "that is a change of what is there");
        Assert.That(bench.Tier().GivenUp, Is.Zero);

        Assert.That(Remove(bench, "k7"), Is.EqualTo((Outcome.Done, true)));
        Assert.That(Put(bench, "k8", "new"), Is.EqualTo(Outcome.Done));
        Assert.That((bench.Text("k7"), bench.Text("k8")), Is.EqualTo((null as string, "new")));
        Assert.That(Remove(bench, "k7"), Is.EqualTo((Outcome.Unchanged, false)), "it is gone");
        Assert.That(bench.Store.Count(ns), Is.EqualTo(Keys - 1));
        Assert.That((bench.Tier().GivenUp, told.GivenUp), Is.EqualTo((2L, 2L)));
        Assert.That(() => bench.Get("k9"), Throws.TypeOf<GarnetException>(), "nobody has asked for that one to go");
        for (int i = 0; i < Keys; i++)
        {
            if (i is < 7 or > 9) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, Bytes)), "k" + i);
        }
        bench.Delete("k9"); // the check reads all
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Under_locks_of_several_keys_it_is_the_same()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(Keys, Bytes);
        foreach (string key in Harmed) Harm(bench, medium, key);
        bench.Session.LockAll();
        Assert.That(Remove(bench, "k7"), Is.EqualTo((Outcome.Done, true)));
        Assert.That(Put(bench, "k8", "new"), Is.EqualTo(Outcome.Done));
        Assert.That(() => bench.Append("k9", [1]), Throws.TypeOf<GarnetException>());
        bench.Session.Unlock();
        Assert.That((bench.Text("k7"), bench.Text("k8"), bench.Tier().GivenUp), Is.EqualTo((null as string, "new", 2L)));
        Assert.That(bench.Session.Changes % 2, Is.Zero);
        bench.Delete("k9"); // the check reads all
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    // The device may read it the next time, and then the value is what it was: also that of another key, should it have the same bits.
    [Test]
    public void What_the_device_does_not_read_at_the_moment_is_not_given_up()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(Keys, Bytes);
        medium.FailsRead = static _ => Eio;
        Assert.That(() => Remove(bench, "k7"), Throws.TypeOf<GarnetException>());
        Assert.That(() => Put(bench, "k8", "new"), Throws.TypeOf<GarnetException>());
        medium.FailsRead = static _ => SimulatedMedium.Short;
        Assert.That(() => Remove(bench, "k7"), Throws.TypeOf<GarnetException>());
        medium.FailsRead = static _ => 0;
        bench.ExpectNothingUnderWay();
        Assert.That((bench.Get("k7"), bench.Get("k8")), Is.EqualTo((TieredBench.Value(7, Bytes), TieredBench.Value(8, Bytes))));
        Assert.That((bench.Tier().GivenUp, bench.Session.Changes % 2), Is.EqualTo((0L, 0L)));
    }

    [Test]
    public void What_finds_no_memory_gives_up_nothing()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20 });
        bench.Cold(Keys, Bytes);
        Harm(bench, medium, "k7");
        PutWhole put = new() { Value = new byte[4 << 20] };
        Assert.That(bench.Session.Modify(bench.Key("k7"), ref put), Is.EqualTo(Outcome.OutOfMemory));
        Assert.That(() => bench.Get("k7"), Throws.TypeOf<GarnetException>());
        Assert.That((bench.Tier().GivenUp, bench.Store.Count(bench.Store.Namespaces.Id(0))), Is.EqualTo((0L, (long)Keys)));
    }

    private static (Outcome Outcome, bool Removed) Remove(Bench bench, string key)
    {
        DeleteKey delete = default;
        return (bench.Session.Modify(bench.Key(key), ref delete), delete.Removed != RecordKind.None);
    }

    private static Outcome Put(Bench bench, string key, string value)
    {
        PutWhole put = new() { Value = System.Text.Encoding.UTF8.GetBytes(value) };
        return bench.Session.Modify(bench.Key(key), ref put);
    }

    // A byte of its value, where its word says that it lies.
    private static void Harm(Bench bench, SimulatedMedium medium, string key)
    {
        KeyRef sought = bench.Key(key);
        Shape* shape = bench.Store.Core.Shape;
        Partition* partition = Shape.PartitionOf(shape, sought.Hash);
        int harmed = 0;
        for (SlotWalk walk = new(partition, Shape.BucketOf(shape, partition, sought.Hash)); walk.Next();)
        {
            ulong word = *walk.Slot;
            if (!IndexWord.IsCold(word) || (word ^ Shape.TagOf(shape, sought.Hash)) >> IndexWord.TagShift != 0) continue;
            medium.At(ColdAddress.Offset(word) + Bytes / 2, 1)[0] ^= 1;
            harmed++;
        }
        Assert.That(harmed, Is.EqualTo(1));
    }

    private sealed class Told : ITierObserver
    {
        public long GivenUp { get; private set; }

        public void OnReadFailed(string why, string remedy, long failures) => Assert.That(why, Does.Contain("checksum"));

        public void OnOwing(string? why)
        {
        }

        public void OnGivenUp(string why, long records)
        {
            Assert.That(why, Does.Contain("segment").And.Contain("offset"));
            GivenUp = records;
        }

        public void OnWriting(string? failure)
        {
        }

        public void OnBudget(bool isSpent)
        {
        }

        public void OnFull(bool isFull)
        {
        }
    }
}
