using Garnet.Common.Resp;

namespace Garnet.Common.Test.Resp;

/// <summary>A line that comes byte by byte, and how long it may be.</summary>
public sealed class RespLineTests
{
    private const int BytesMax = 4;

    [TestCase("+OK\r\n", "+OK")]
    [TestCase("+OK\n", "+OK")]
    [TestCase("\n", "")]
    [TestCase("1234\n", "1234")]
    public void A_line_ends_with_its_last_byte_and_not_before(string sent, string line)
    {
        var reading = new RespLine(BytesMax);
        Assert.That(sent[..^1].Select(letter => reading.EndsWith((byte)letter)), Has.None.True);
        Assert.That((reading.EndsWith((byte)sent[^1]), reading.Text), Is.EqualTo((true, line)));
    }

    [Test]
    public void A_line_that_does_not_end_is_given_up()
    {
        var reading = new RespLine(BytesMax);
        Assert.That("1234".Any(letter => reading.EndsWith((byte)letter)), Is.False);
        Assert.That(() => reading.EndsWith((byte)'5'), Throws.InstanceOf<IOException>());
    }
}
