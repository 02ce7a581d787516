using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>A record that came back from the tier and has not changed leaves memory without a write (store.C13), and one that has changed does not.</summary>
internal sealed unsafe class CleanCopyTests
{
    private const int Keys = 500, Segment = 32 << 10;
    private const long MediumBytes = 8 << 20;

    [Test]
    public void What_came_back_and_did_not_change_leaves_again_without_a_write([Values] TierParts parts, [Values(100, 700, 3000, 7000)] int bytes)
    {
        const int KeysOfSize = 120;
        using MappedTier tier = new(parts, MediumBytes, MediumBytes);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        for (int i = 0; i < KeysOfSize; i++) bench.Set("k" + i, Value(i, bytes), 0, i % 3 == 0 ? bench.NowMs + 100_000 : 0, i % 4 == 0 ? 7UL : 0);
        bench.Demote();
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < KeysOfSize; i += 5) Promote(bench, "k" + i);
            TierFigures before = bench.Tier();
            Assert.That(before.Returned, Is.EqualTo((round + 1) * KeysOfSize / 5));
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
            bench.Demote();
            TierFigures after = bench.Tier();
            Assert.That((after.WrittenBytes - before.WrittenBytes, after.Records - before.Records), Is.EqualTo((0, KeysOfSize / 5)));
            Assert.That((after.DemotedClean, after.DemotedCleanBytes), Is.EqualTo((after.Returned, after.ReturnedBytes)));
        }
        for (int i = 0; i < KeysOfSize; i++)
        {
            Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, bytes)), $"k{i}");
            Assert.That((bench.Last.ExpireAtMs, bench.Last.ETag), Is.EqualTo((i % 3 == 0 ? bench.NowMs + 100_000 : 0, i % 4 == 0 ? 7UL : 0)));
        }
        bench.ExpectNothingUnderWay();
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void What_was_changed_in_any_way_is_written_as_it_is([Values] TierParts parts, [Values("put", "shorter", "longer", "append", "expiry", "none", "etag", "kind", "all")] string change,
        [Values(100, 7000)] int bytes, [Values(0u, 1u)] uint ns)
    {
        using MappedTier tier = new(parts, MediumBytes, MediumBytes);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Store.Namespaces.Id(1);
        for (int i = 0; i < 20; i++) bench.Set("k" + i, Value(i, bytes), ns, bench.NowMs + 5000, 3);
        bench.Demote();
        Promote(bench, "k7", ns);
        long clean = bench.Tier().DemotedClean;
        (byte[] value, long expireAtMs, ulong etag, RecordKind kind) = (Value(7, bytes), bench.NowMs + 5000, 3UL, RecordKind.String);
        switch (change)
        {
            case "put": value = Value(8, bytes); break;
            case "shorter": value = Value(8, bytes - 1); break;
            case "longer": value = Value(8, bytes + 1); break;
            case "append": value = [.. value, 1]; break;
            case "expiry": expireAtMs++; break;
            case "none": expireAtMs = 0; break;
            case "etag": etag++; break;
            case "kind": kind = RecordKind.Set; break;
            default: (value, expireAtMs, etag) = (Value(9, 10), 0, 0); break;
        }
        if (change == "append") bench.Append("k7", [1], ns);
        else if (change is "expiry" or "none" or "etag") bench.Fields("k7", expireAtMs, etag, ns);
        else bench.Set("k7", value, ns, expireAtMs, etag, kind);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        for (int round = 0; round < 2; round++)
        {
            bench.Set("n" + round, value); // beside it: of a segment in which nothing lives nothing is left
            bench.Demote();
            Assert.That(bench.Get("k7", ns), Is.EqualTo(value));
            Assert.That((bench.Last.ExpireAtMs, bench.Last.ETag, bench.Last.Kind), Is.EqualTo((expireAtMs, etag, kind)));
            Assert.That(bench.Tier().DemotedClean - clean, Is.EqualTo(round == 0 ? 0 : 1));
            Promote(bench, "k7", ns);
        }
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_change_that_changes_nothing_leaves_it_as_it_is_and_a_longer_way_through_memory_does_too()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(Keys, 300);
        for (int i = 0; i < Keys; i += 2) Promote(bench, "k" + i);
        for (int i = 0; i < 3000; i++) bench.Set("m" + i, Value(i, 200));
        for (int i = 0; i < 3000; i++) bench.Delete("m" + i);
        bench.StepUntilIdle(); // what is left is moved together
        Refuse refuse = default;
        for (int i = 0; i < Keys; i += 2) Assert.That(bench.Session.Modify(bench.Key("k" + i), ref refuse), Is.EqualTo(Outcome.Unchanged));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        long written = bench.Tier().WrittenBytes;
        bench.Demote();
        Assert.That((bench.Tier().WrittenBytes, bench.Tier().DemotedClean), Is.EqualTo((written, Keys / 2)));
    }

    [Test]
    public void It_takes_eight_bytes_and_what_comes_back_to_be_changed_does_not_have_them()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(10, 104);
        long before = bench.Store.Figures().LiveBytes, bare = Record.Round(Record.HeaderBytes + "k7".Length + 104);
        Promote(bench, "k7");
        Assert.That(bench.Store.Figures().LiveBytes - before, Is.EqualTo(bare + Record.FieldBytes));
        bench.Set("k8", Value(1, 104));
        Assert.That(bench.Store.Figures().LiveBytes - before, Is.EqualTo((2 * bare) + Record.FieldBytes));
        bench.Set("k7", Value(1, 106));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>Its segment was freed and is used by others: the place is theirs.</summary>
    [Test]
    public void What_was_there_is_not_looked_for_once_another_use_is_made_of_the_segment([Values] bool isNamed)
    {
        const int Many = 500;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(isNamed ? TieredBench.KeptSettings(medium) : TieredBench.Settings(medium));
        bench.Cold(1, 300);
        Promote(bench, "k0");
        for (int i = 1; i < Many; i++)
        {
            bench.Set("k" + i, Value(i, 300));
            bench.Session.Tier!.Demote(bench.Key("k" + i), bench.NowMs);
            bench.Store.Tiers!.Step(bench.NowMs);
        }
        Assert.That(bench.Tier().Demoted, Is.EqualTo(Many));
        bench.Demote();
        Assert.That((bench.Tier().Demoted, bench.Tier().DemotedClean), Is.EqualTo((Many + 1, 0)));
        for (int i = 0; i < Many; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, 300)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_segment_that_could_not_be_read_takes_nothing_back_and_what_is_in_memory_stays_readable()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(50, 500);
        for (int i = 0; i < 20; i++) Promote(bench, "k" + i);
        byte[] sound = medium.At(0, 1 << 20).ToArray();
        for (int at = Segment; at < 1 << 20; at += 16) medium.At(at + 5, 1)[0] ^= 1;
        Assert.That(() => bench.Get("k40"), Throws.TypeOf<Garnet.Common.GarnetException>());
        bench.Demote();
        Assert.That(bench.Tier().DemotedClean, Is.Zero);
        for (int i = 0; i < 20; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, 500)), $"k{i}");
        bench.ExpectNothingUnderWay(); // what failed is kept for a moment, too
        sound.AsSpan(0, 2 * Segment).CopyTo(medium.At(0, 2 * Segment));
        for (int i = 20; i < 50; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, 500)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_value_that_grows_in_memory_until_no_segment_takes_it_alone_is_copied_whole()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        List<byte> value = [.. Value(1, Segment - 4300)]; // some bytes before it is too long
        bench.Set("k", value.ToArray());
        bench.Set("other", value.ToArray());
        bench.Demote();
        Promote(bench, "k");
        for (int i = 0; i < 40; i++)
        {
            byte[] tail = Value(i, 20);
            value.AddRange(tail);
            bench.Append("k", tail);
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        }
        bench.Demote();
        Assert.That(bench.Get("k"), Is.EqualTo(value.ToArray()));
        Assert.That((bench.Tier().DemotedClean, bench.Tier().Records), Is.EqualTo((0, 2)));
        for (int round = 0; round < 2; round++)
        {
            Promote(bench, "k"); // of what has segments of its own nothing is left there
            bench.Demote();
            Assert.That(bench.Get("k"), Is.EqualTo(value.ToArray()));
        }
        Assert.That(bench.Tier().DemotedClean, Is.Zero);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>Of a collection: what is looked at comes back, and leaves without a write; of what is edited only the piece that changes is written.</summary>
    [Test]
    public void Pieces_of_a_collection_go_back_each_for_itself()
    {
        const int Chunks = 40;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium) with { Partitions = 1 });
        for (int i = 0; i < Chunks; i++)
        {
            Edit(bench, i, (byte)i);
            Edit(bench, i, (byte)i, "rest"); // stays where it is, beside the other
        }
        bench.Demote();
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.EqualTo(2 * (Chunks + 1)));
        for (int round = 1; round <= 3; round++)
        {
            for (int look = 0; look < 3; look++)
            {
                for (int i = 0; i < Chunks; i++) Assert.That(Look(bench, i), Is.All.EqualTo((byte)(i == 5 ? i + round - 1 : i)));
            }
            (long written, long demoted) = (bench.Tier().DemotedClean, bench.Tier().Demoted);
            Edit(bench, 5, (byte)(5 + round));
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
            bench.Demote();
            bench.Demote();
            demoted = bench.Tier().Demoted - demoted;
            Assert.That(demoted, Is.EqualTo(Chunks + 1));
            Assert.That(bench.Tier().DemotedClean - written, Is.EqualTo(demoted - 2), "all but the piece and the root, which every edit changes");
        }
    }

    /// <summary>What is said of a segment's expiry and of parts with a time of their own is true of what goes back there.</summary>
    [Test]
    public void What_goes_back_expires_there_when_its_time_comes()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        for (int i = 0; i < 200; i++) bench.Set("k" + i, Value(i, 300), 0, i % 2 == 0 ? 0 : bench.NowMs + 10_000 + (i * 100));
        bench.Demote();
        for (int i = 1; i < 200; i += 4) Promote(bench, "k" + i);
        for (int second = 0; second < 40; second++)
        {
            bench.NowMs += 1000;
            bench.Demote(); // in the end what has expired, too
            for (int i = 0; i < 5; i++) bench.Store.Tiers!.Step(bench.NowMs);
        }
        bench.NowMs += 100_000;
        for (int i = 0; i < 50; i++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        bench.StepUntilIdle();
        Assert.That(bench.Tier().DemotedClean, Is.Positive);
        Assert.That((bench.Store.Count(0), bench.Store.CountWithExpiry(0)), Is.EqualTo((100L, 0L)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>What was dead on the tier when a snapshot named the segment and lives there again when the next one does: each has it as it was, once.</summary>
    [Test]
    public void Snapshots_before_and_behind_have_what_there_was([Values(1, 2, 3, 4)] int seed)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        Random random = new(seed);
        List<(NamingList List, SortedDictionary<string, string> Then)> taken = [];
        for (int i = 0; i < 3; i++)
        {
            for (int j = 0; j < 300; j++) Promote(bench, "k" + random.Next(3000));
            if (i == 1) bench.Demote();
            for (int j = 0; j < 40; j++) bench.Set("k" + random.Next(3000), Value(j, 60));
            SortedDictionary<string, string> then = Content.Of(bench.Store);
            NamingList list = NamingList.Of(bench.Store, "s" + i, step =>
            {
                if (step % 50 == 7) bench.Demote(); // while it runs, too
                if (step % 50 == 20) Promote(bench, "k" + random.Next(3000));
            });
            taken.Add((list, then));
            bench.Store.Names!.Published("s" + i, i == 0 ? null : "s" + (i - 1));
            bench.Demote();
        }
        Assert.That(bench.Tier().DemotedClean, Is.GreaterThan(300));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        medium.Crash(seed);
        (NamingList last, SortedDictionary<string, string> kept) = taken[1 + (seed % 2)]; // the newest, or the one before
        using Bench again = new(TieredBench.KeptSettings(medium));
        Assert.That(last.Load(again.Store), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(again.Store), Is.EqualTo(kept));
        Assert.That(StoreCheck.Run(again.Store), Is.Empty);
        uint ns = again.Store.Namespaces.Id(0);
        for (int i = 0; i < 3000; i += 3) Promote(again, "k" + i, ns); // and it goes on with what it found
        long clean = again.Tier().DemotedClean;
        again.Demote();
        Assert.That(again.Tier().DemotedClean - clean, Is.GreaterThan(500));
        Assert.That(Content.Of(again.Store), Is.EqualTo(kept));
        Assert.That(StoreCheck.Run(again.Store), Is.Empty);
    }

    // A short run takes one seed with each, another one for each of the parts.
    private static IEnumerable<object[]> SmallTiers() =>
        from parts in Enum.GetValues<TierParts>()
        from isNamed in new[] { false, true }
        from seed in LongRun.PartOf([1, 2, 3, 4], every: 4, first: (int)parts)
        select new object[] { seed, isNamed, parts };

    /// <summary>Segments are moved together and given to others all the time while records come back, change, and leave again.</summary>
    [TestCaseSource(nameof(SmallTiers))]
    public void Beside_compaction_of_a_small_tier_every_value_is_what_was_set_last(int seed, bool isNamed, TierParts parts)
    {
        const int Steps = 30_000, Many = 700;
        using MappedTier tier = new(parts, 640 << 10, parts == TierParts.MemoryOverDisk ? 256 << 10 : 640 << 10);
        StoreSettings settings = TieredBench.Settings(tier.Medium);
        using Bench bench = new(isNamed ? settings with { TierId = new Garnet.Media.MediumId(0, 7) } : settings);
        Random random = new(seed);
        int[] values = new int[Many];
        for (int i = 0; i < Many; i++) bench.Set("k" + i, Value(i, Length(values[i] = i)));
        for (int step = 0; step < Steps; step++)
        {
            int key = (int)Math.Pow(Many, random.NextDouble()) - 1;
            if (random.Next(12) == 0) bench.Set("k" + key, Value(values[key] = step, Length(step)));
            else Assert.That(bench.Get("k" + key), Is.EqualTo(Value(values[key], Length(values[key]))), $"seed {seed} step {step}");
            if (random.Next(100) == 0) bench.Demote();
            if (random.Next(20) == 0) bench.Store.Tiers!.Step(bench.NowMs += 500);
            if (isNamed && bench.Store.Names!.WantsSnapshot) Publish(bench, step);
            if (step % 3000 == 0) Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        }
        TierFigures figures = bench.Tier();
        TestContext.Out.WriteLine($"demoted {figures.Demoted}, of these clean {figures.DemotedClean}, compacted {figures.Compacted}, written {figures.WrittenBytes}, sunk {figures.Memory?.MovedDown}");
        Assert.That(figures.DemotedClean, Is.GreaterThan(parts == TierParts.Memory ? 10 : 1000)); // from there a record comes back at the fourth read
        for (int i = 0; i < Many; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(values[i], Length(values[i]))), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static void Publish(Bench bench, int step)
    {
        string name = "s" + step;
        NamingList.Of(bench.Store, name);
        bench.Store.Names!.Published(name, null);
    }

    private static int Length(int value) => value % 40 == 0 ? 6000 : value % 300;

    private static byte[] Value(int seed, int bytes) => TieredBench.Value(seed, bytes);

    private static void Edit(Bench bench, int chunk, byte fill, string key = "root")
    {
        ChunkEdit edit = new() { Number = Number(chunk), Bytes = [.. Enumerable.Repeat(fill, 800)] };
        Assert.That(bench.Session.Edit(bench.Key(key), ref edit), Is.EqualTo(Outcome.Done));
    }

    private static byte[]? Look(Bench bench, int chunk)
    {
        ChunkCopy copy = new() { Number = Number(chunk) };
        Assert.That(bench.Session.Examine(bench.Key("root"), ref copy), Is.EqualTo(Outcome.Done));
        return copy.Bytes;
    }

    private static uint Number(int chunk) => RootLimit.NumberOf((uint)chunk % 3, (uint)chunk);

    private static void Promote(Bench bench, string key, uint ns = 0) => bench.Session.Tier!.Promote(bench.Key(key, ns), bench.NowMs);
}
