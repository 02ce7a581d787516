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
    [TestCase("0x10", 16d)]
    [TestCase("-0X.8p+1", -1d)]
    [TestCase("0x1.fffffffffffff8p0", 2d)] // half a unit: to even
    [TestCase("0x1.fffffffffffff7ffffffffffffffffffffffp0", 1.9999999999999998)]
    [TestCase("0x1.00000000000008p0", 1d)]
    [TestCase("0x1.000000000000080000000000000000001p0", 1.0000000000000002)]
    [TestCase("0x1p-1074", 4.94065645841247e-324)]
    [TestCase("0x1.8p-1074", 9.8813129168249309e-324)]
    [TestCase("0x1.0000000000001p-1075", 4.94065645841247e-324)]
    [TestCase("0x0p-99999999999999999999", 0d)]
    [TestCase("4.9e-324", 4.94065645841247e-324)]
    [TestCase("0e-99999999999", 0d)]
    [TestCase("+1", 1d)]
    [TestCase("5.", 5d)]
    public void A_number_is_read(string text, double value)
    {
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out double read), Is.True);
        Assert.That(BitConverter.DoubleToInt64Bits(read), Is.EqualTo(BitConverter.DoubleToInt64Bits(value)));
    }

    [Test]
    public void What_is_no_number_is_refused([Values("", "-", ".", "-.", "1..2", "1.2.3", " 1", "1 ", "1-", "--1", "+-1", "nan", "1x", "0x", "0x.", "0x1p", "0x1p+", "0x1.8.8", "0xg", "1\0", "1e", "\u2212" + "1", "1e400", "-0x1p1024", "1e-400", "2e-324", "0x1p-1075")] string text) =>
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out _), Is.False);

    [TestCase("1e400", double.PositiveInfinity)]
    [TestCase("-1e400", double.NegativeInfinity)]
    [TestCase("1e-400", 0d)]
    [TestCase("-0x1p-2000", -0d)]
    [TestCase(" \t\n1", 1d)]
    [TestCase("0x1.8", 1.5)]
    public void The_end_of_a_range_may_be_any_number(string text, double value)
    {
        Assert.That(NumberText.TryLoose(Encoding.ASCII.GetBytes(text), out double read), Is.True);
        Assert.That(BitConverter.DoubleToInt64Bits(read), Is.EqualTo(BitConverter.DoubleToInt64Bits(value)));
    }

    [Test]
    public void A_number_may_have_any_number_of_digits([Values(200, 800, 100_000)] int digits)
    {
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(new string('0', digits) + "12.5"), out double value), Is.True);
        Assert.That(value, Is.EqualTo(12.5));
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes("1.5" + new string('0', digits) + "1"), out value), Is.True);
        Assert.That(value, Is.EqualTo(1.5));
        Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes("0x1.8" + new string('0', digits) + "1"), out value), Is.True);
        Assert.That(value, Is.EqualTo(1.5));
    }

    [Test]
    public void Hexadecimal_numbers_are_read_back_as_they_were_written()
    {
        var random = new Random(18);
        for (int i = 0; i < 200_000; i++)
        {
            double wanted = BitConverter.Int64BitsToDouble(random.NextInt64() & long.MaxValue);
            if (!double.IsFinite(wanted) || wanted == 0)
                continue;
            long bits = BitConverter.DoubleToInt64Bits(wanted), significand = bits & ((1L << 52) - 1);
            int exponent = (int)(bits >> 52);
            string text = $"0x{(exponent == 0 ? significand : significand | (1L << 52)):x}p{Math.Max(exponent, 1) - 1075}";
            Assert.That(NumberText.TryDouble(Encoding.ASCII.GetBytes(text), out double value), Is.True, text);
            Assert.That(value, Is.EqualTo(wanted), text);
        }
    }

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
