using System.Buffers.Binary;
using System.Text;
using Garnet.Server.Inspect;

namespace Garnet.Server.Test.Inspecting;

/// <summary>The keys that have most of something, in bounded memory: what is told is never too much, and nobody who has much is missed.</summary>
internal sealed class TopKeysTests
{
    [TestCase(1)]
    [TestCase(2)]
    [TestCase(64)]
    [TestCase(1000)]
    public void What_is_told_is_never_more_than_it_had_and_no_heavy_key_is_missed(int capacity)
    {
        const int Keys = 2000, Steps = 100_000;
        Random random = new(capacity);
        TopKeys top = new(capacity);
        Dictionary<ulong, long> had = [];
        long all = 0;
        byte[] name = new byte[8];
        for (int i = 0; i < Steps; i++)
        {
            // Zipf-like: half of what there is goes to a few.
            ulong key = (ulong)(Keys * Math.Pow(random.NextDouble(), 6));
            long weight = random.Next(0, 20);
            BinaryPrimitives.WriteUInt64LittleEndian(name, key);
            top.Add(key, name, weight);
            had[key] = had.GetValueOrDefault(key) + weight;
            all += weight;
        }

        List<KeyWeight> told = All(top);
        Assert.That(told.Select(static one => one.Hash), Is.Unique);
        Assert.That(told, Has.Count.LessThanOrEqualTo(capacity));
        foreach (KeyWeight one in told)
        {
            Assert.That(BinaryPrimitives.ReadUInt64LittleEndian(one.Name), Is.EqualTo(one.Hash));
            Assert.That(one.Weight, Is.InRange(had[one.Hash] - (all / capacity), had[one.Hash]));
        }

        foreach ((ulong key, long weight) in had)
        {
            if (weight > all / capacity)
                Assert.That(told.Select(static one => one.Hash), Does.Contain(key));
        }
    }

    [Test]
    public void A_key_that_takes_anothers_place_has_its_own_name()
    {
        TopKeys top = new(1);
        foreach (string name in (string[])["longer", "a", "even longer", ""]) top.Add((ulong)name.Length, Encoding.ASCII.GetBytes(name), 100);
        Assert.That(All(top).Select(static one => (Encoding.ASCII.GetString(one.Name), one.Weight)), Is.EqualTo([("", 100L)]));
    }

    [Test]
    public void Of_a_long_key_the_beginning_is_kept()
    {
        TopKeys top = new(2);
        top.Add(1, new byte[TopKeys.NameBytesMax + 1], 1);
        Assert.That(All(top).Single().Name, Has.Length.EqualTo(TopKeys.NameBytesMax));
    }

    [Test]
    public void A_session_ends_after_its_time_and_adds_up_what_workers_have()
    {
        HotKeySession session = new(new HotKeyOptions(true, true, 10, 500, 1), 2, 1000, default);
        session.Look(1499);
        Assert.That((session.IsActive, session.TookMs(1499)), Is.EqualTo((true, 499L)));
        session.Look(1700);
        Assert.That((session.IsActive, session.TookMs(1700)), Is.EqualTo((false, 500L)));
        Assert.That(session.Stop(1800), Is.False, "it has ended by itself");
        Assert.That(session.TookMs(9000), Is.EqualTo(500));
    }

    [Test]
    public void What_counts_half_keeps_its_order()
    {
        TopKeys top = new(8);
        for (ulong key = 0; key < 8; key++) top.Add(key, [(byte)key], 100 + (long)key);
        top.Add(9, [9], 1); // takes the place of the lightest
        top.Halve(2);
        Assert.That(All(top).Where(static one => one.Hash != 9).Select(static one => one.Weight), Is.EquivalentTo(new[] { 25, 25, 25, 26, 26, 26, 26 }));
        top.Halve(62);
        Assert.That(All(top), Is.Empty);
    }

    [Test]
    public void What_workers_have_of_a_key_adds_up_under_its_name()
    {
        KeySums sums = new();
        foreach (long weight in (long[])[5, 7])
        {
            TopKeys top = new(2);
            top.Add(1, "one"u8, weight);
            top.Add((ulong)weight, "other"u8, 1);
            top.AddTo(sums);
            top.Add(2, "new"u8, 1000); // takes an array over that a sum must not hold
            top.Add(3, "two"u8, 1000);
        }

        Assert.That(sums.First(1).Select(static one => (Encoding.ASCII.GetString(one.Name), one.Weight)), Is.EqualTo([("one", 12L)]));
        Assert.That(sums.First(10), Has.Count.EqualTo(3));
    }

    private static List<KeyWeight> All(TopKeys top)
    {
        KeySums sums = new();
        top.AddTo(sums);
        return sums.First(int.MaxValue);
    }
}
