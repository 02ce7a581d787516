using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What fetched records took is given back to the system once nothing has been fetched for a moment.</summary>
internal sealed class HeapTrimTests
{
    [Test]
    public void Once_it_is_still_and_not_before_nor_for_a_little()
    {
        int trims = 0;
        HeapTrim heap = new(() => trims++);
        heap.Freed(HeapTrim.BytesMin - 1);
        heap.Look(0);
        heap.Look(5000);
        Assert.That(trims, Is.Zero, "too little");
        heap.Freed(HeapTrim.BytesMin / 4);
        for (long now = 6000; now < 9000; now += 100)
        {
            heap.Freed(HeapTrim.BytesMin / 50); // in a tenth of a second
            heap.Look(now);
        }
        Assert.That(trims, Is.Zero, "it is being used");
        heap.Look(10_000);
        heap.Look(20_000);
        Assert.That(trims, Is.EqualTo(1));
        heap.Freed(HeapTrim.BytesMin);
        heap.Look(21_000);
        heap.Look(22_500);
        Assert.That(trims, Is.EqualTo(2));
        heap.Freed(HeapTrim.BytesMin);
        for (long now = 23_000; now < 26_000; now += 100)
        {
            heap.Freed(1000);
            heap.Look(now);
        }
        Assert.That(trims, Is.EqualTo(3), "a server that is in use always reads something");
    }
}
