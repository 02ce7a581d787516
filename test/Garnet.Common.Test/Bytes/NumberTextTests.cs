using System.Globalization;
using System.Text;
using Garnet.Common.Bytes;

namespace Garnet.Common.Test.Bytes;

public sealed class NumberTextTests
{
    [Test]
    public void Plain_numbers_are_read_as_the_framework_reads_them()
    {
        var random = new Random(17);
        for (int i = 0; i < 200_000; i++)
        {
            string text = Spell(random);
            Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out double value), Is.True, text);
            double wanted = double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
            Assert.That(BitConverter.DoubleToInt64Bits(value), Is.EqualTo(BitConverter.DoubleToInt64Bits(wanted)), text);
        }
    }

    [TestCase("0", 0d)]
    [TestCase("-0", -0d)]
    [TestCase("000000012345", 12345d)]
    [TestCase("9007199254740992", 9007199254740992d)]
    [TestCase("9007199254740993", 9007199254740992d)]
    [TestCase("9999999999999999999", 1e19)]
    [TestCase("18446744073709551616", 18446744073709551616d)]
    [TestCase("0.1", 0.1)]
    [TestCase("-.5", -0.5)]
    [TestCase("1e3", 1000d)]
    [TestCase("-inf", double.NegativeInfinity)]
    public void A_number_is_read(string text, double value)
    {
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out double read), Is.True);
        Assert.That(BitConverter.DoubleToInt64Bits(read), Is.EqualTo(BitConverter.DoubleToInt64Bits(value)));
    }

    [Test]
    public void What_is_no_number_is_refused([Values("", "-", ".", "-.", "1..2", "1.2.3", " 1", "1 ", "1-", "--1", "nan", "1x", "0x10")] string text) =>
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out _), Is.False);

    private static string Spell(Random random)
    {
        var text = new StringBuilder(random.Next(3) == 0 ? "-" : "");
        int digits = random.Next(1, 22), point = random.Next(4) == 0 ? 0 : random.Next(1, 22);
        for (int i = 0; i < digits; i++)
        {
            if (i == point && i > 0)
                text.Append('.');
            text.Append((char)('0' + random.Next(10)));
        }

        return text.ToString();
    }
}
