using Garnet.Types.Strings;

namespace Garnet.Types.Test;

[TestFixture]
internal sealed class LcsTableTests
{
    [Test]
    public void Lengths_are_those_of_the_table_of_numbers([Values(0, 1, 5, 63, 64, 65, 200)] int width, [Values(1, 2, 20)] int kinds)
    {
        var random = new Random(width + kinds);
        byte[] a = [.. Enumerable.Range(0, 90).Select(_ => (byte)random.Next(kinds))], b = [.. Enumerable.Range(0, width).Select(_ => (byte)random.Next(kinds))];
        int[,] lengths = new int[a.Length + 1, width + 1];
        var table = new LcsTable(a, b, keepsRows: true);
        for (int i = 1; i <= a.Length; i++)
        {
            for (int j = 1; j <= width; j++)
            {
                lengths[i, j] = a[i - 1] == b[j - 1] ? lengths[i - 1, j - 1] + 1 : Math.Max(lengths[i - 1, j], lengths[i, j - 1]);
                Assert.That(table.Grows(i, j), Is.EqualTo(lengths[i, j] > lengths[i, j - 1]), $"{i}, {j}");
            }
        }

        Assert.That(table.Length, Is.EqualTo(lengths[a.Length, width]));
        Assert.That(new LcsTable(a, b, keepsRows: false).Length, Is.EqualTo(table.Length));
    }

    [Test]
    public void One_byte_against_many_takes_less_memory_than_the_many()
    {
        byte[] one = [7], many = new byte[1 << 20];
        long before = GC.GetAllocatedBytesForCurrentThread();
        _ = new LcsTable(one, many, keepsRows: true);
        _ = new LcsTable(many, one, keepsRows: false);
        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(many.Length));
    }
}
