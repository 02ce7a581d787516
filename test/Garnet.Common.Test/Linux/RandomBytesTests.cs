using Garnet.Common.Linux;

namespace Garnet.Common.Test.Linux;

public sealed class RandomBytesTests
{
    [TestCase(0)]
    [TestCase(20)]
    [TestCase(100_000)]
    public void As_many_come_as_are_asked_for_and_no_part_is_left_out(int count)
    {
        byte[] bytes = Libc.RandomBytes(count);
        Assert.That(bytes, Has.Length.EqualTo(count));
        for (int i = 0; i + 20 <= count; i += 20) Assert.That(bytes.AsSpan(i, 20).ContainsAnyExcept((byte)0), $"at {i}"); // by chance once in 2^160
    }

    [Test]
    public void Two_are_never_the_same() => Assert.That(Libc.RandomBytes(16), Is.Not.EqualTo(Libc.RandomBytes(16)));
}
