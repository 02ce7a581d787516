using Garnet.Server.Bulk;

namespace Garnet.Server.Test.Bulk;

/// <summary>Which bytes of a value that comes in parts are there, beside a plain array of flags.</summary>
internal sealed class WrittenRangesTests
{
    [Test]
    public void A_value_is_whole_when_every_byte_was_written_and_not_before()
    {
        const int Length = 40, Seeds = 500;
        for (int seed = 0; seed < Seeds; seed++)
        {
            var random = new Random(seed);
            var ranges = new WrittenRanges(Length);
            bool[] written = new bool[Length];
            for (int i = 0; i < 30; i++)
            {
                int start = random.Next(Length + 1), end = Math.Min(Length, start + random.Next(8));
                Assert.That(ranges.TryAdd(start, end), Is.True);
                written.AsSpan(start, end - start).Fill(true);
                Assert.That(ranges.IsWhole, Is.EqualTo(!written.Contains(false)), $"seed {seed}, part {i}");
            }
        }
    }

    [Test]
    public void Who_leaves_too_many_gaps_is_told_so_and_may_fill_them()
    {
        var ranges = new WrittenRanges(10_000);
        int parts = 0;
        while (ranges.TryAdd(parts * 2, (parts * 2) + 1))
            parts++;
        Assert.That(parts, Is.EqualTo(1024));
        Assert.That(ranges.TryAdd(1, 2), Is.True);
        Assert.That(ranges.TryAdd(parts * 2, (parts * 2) + 1), Is.True);
        Assert.That(ranges.TryAdd(0, 10_000), Is.True);
        Assert.That(ranges.IsWhole, Is.True);
    }

    [Test]
    public void What_is_taken_out_is_not_there_and_the_rest_is()
    {
        Random random = new(7);
        for (int round = 0; round < 500; round++)
        {
            const int Length = 40;
            WrittenRanges ranges = new(Length);
            bool[] there = new bool[Length];
            for (int step = 0; step < 20; step++)
            {
                int start = random.Next(Length), end = random.Next(start, Length + 1);
                bool adds = random.Next(3) > 0;
                if (adds) ranges.TryAdd(start, end);
                else ranges.Remove(start, end);
                there.AsSpan(start..end).Fill(adds);
                Assert.That(ranges.IsWhole, Is.EqualTo(!there.Contains(false)), $"round {round}, step {step}");
            }

            for (int start = 0; start < Length; start++)
            {
                if (!there[start]) ranges.TryAdd(start, start + 1);
            }

            Assert.That(ranges.IsWhole, $"round {round}");
        }
    }
}
