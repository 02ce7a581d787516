using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>How many chunks are fetched beside one that is lacked, where several go through one collection.</summary>
internal sealed class ChunkAheadTests
{
    private const ulong Owner = 7;

    [Test]
    public void One_who_goes_through_all_of_it_has_more_and_more_fetched()
    {
        ChunkAhead ahead = new();
        uint number = 0;
        List<int> fetched = [];
        while (fetched.Count < 5) fetched.Add(Lack(ahead, ref number));
        Assert.That(fetched, Is.EqualTo((int[])[0, 0, 8, 16, 32]));
    }

    /// <summary>0: in step, so that each lacks what the other has just had fetched, too.</summary>
    [TestCase(0u)]
    [TestCase(5000u)]
    public void Two_who_go_through_it_are_two_walks(uint apart)
    {
        ChunkAhead ahead = new();
        uint first = 0, second = apart;
        List<int> fetched = [];
        for (int i = 0; i < 5; i++)
        {
            fetched.Add(Lack(ahead, ref first));
            uint same = first - 1 - (uint)fetched[^1];
            if (apart == 0)
                Assert.That(Lack(ahead, ref same), Is.EqualTo(ChunkAhead.Another));
            else
                Assert.That(Lack(ahead, ref second), Is.EqualTo(fetched[^1]));
        }
        Assert.That(fetched, Is.EqualTo((int[])[0, 0, 8, 16, 32]));
    }

    [Test]
    public void Looks_here_and_there_have_nothing_fetched_beside_them()
    {
        ChunkAhead ahead = new();
        Random random = new(1);
        for (int i = 0; i < 100; i++)
        {
            uint number = (uint)random.Next(1 << 20);
            Assert.That(Lack(ahead, ref number), Is.Zero);
        }
    }

    // The chunk is lacked, and those fetched with it are there when the walk goes on.
    private static int Lack(ChunkAhead ahead, ref uint number)
    {
        int left = ahead.Begin(Owner, number);
        if (left == ChunkAhead.Another)
            return left;
        uint next = number + 1 + (uint)left;
        ahead.End(Owner, number, next);
        number = next;
        return left;
    }
}
