using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>How many chunks are fetched beside one that is lacked, where several clients go through one collection.</summary>
internal sealed class ChunkAheadTests
{
    private const ulong Owner = 7;
    private const long First = 1L << SessionTier.ClientShift, Second = 2L << SessionTier.ClientShift;

    [Test]
    public void A_walk_that_is_put_off_comes_to_each_chunk_a_few_times_however_many_there_are()
    {
        const uint Chunks = 1_000_000;
        ChunkAhead ahead = new();
        uint number = 0;
        List<int> fetched = [];
        for (long turn = First; number < Chunks; turn++) fetched.Add(Lack(ahead, turn, ref number));
        Assert.That(fetched[..6], Is.EqualTo((int[])[0, 0, 8, 16, 32, 64]));
        Assert.That(fetched, Has.Count.LessThan(25));
    }

    // In step, or each somewhere else.
    [TestCase(0u)]
    [TestCase(3u)]
    [TestCase(5000u)]
    public void Two_clients_that_go_through_it_are_two_walks(uint apart)
    {
        ChunkAhead ahead = new();
        uint first = 0, second = apart;
        for (int i = 0; i < 10; i++)
        {
            int one = Lack(ahead, First + i, ref first), other = Lack(ahead, Second + i, ref second);
            Assert.That((one, other), Is.EqualTo((i < 2 ? 0 : 8 << (i - 2), i < 2 ? 0 : 8 << (i - 2))), $"{i}");
        }
    }

    [Test]
    public void The_next_page_of_a_client_has_no_more_fetched_than_a_few_hundred()
    {
        ChunkAhead ahead = new();
        uint number = 0;
        long turn = First;
        for (int i = 0; i < 15; i++) Lack(ahead, turn++, ref number);
        Assert.That(Lack(ahead, turn + 1, ref number), Is.EqualTo(256));
    }

    [Test]
    public void Looks_here_and_there_have_nothing_fetched_beside_them()
    {
        ChunkAhead ahead = new();
        Random random = new(1);
        for (int i = 0; i < 100; i++)
        {
            uint number = (uint)random.Next(1 << 20);
            Assert.That(Lack(ahead, First + i, ref number), Is.Zero);
        }
    }

    // The chunk is lacked, and those fetched with it are there when the walk goes on.
    private static int Lack(ChunkAhead ahead, long turn, ref uint number)
    {
        int left = ahead.Begin(turn, Owner, number);
        number += 1 + (uint)left;
        ahead.End(number);
        return left;
    }
}
