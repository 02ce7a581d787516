using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>When a refusal is the same again, and when it is another.</summary>
internal sealed class DenialLogTests
{
    private const long MinuteMs = 60_000;
    private readonly DenialLog _log = new(static () => 128);

    [TearDown]
    public void TearDown() => _log.Clear();

    [Test]
    public void The_same_within_a_minute_is_counted_and_stands_first()
    {
        Add("a", 1000);
        Add("b", 1001);
        Add("a", 1000 + MinuteMs);
        Assert.That(Told(), Is.EqualTo("a 2, b 1"));
        Add("b", 1002 + MinuteMs);
        Assert.That(Told(), Is.EqualTo("b 1, a 2, b 1"), "a minute later it is another");
    }

    [Test]
    public void Only_the_ten_newest_are_looked_at()
    {
        for (int i = 0; i < 10; i++) Add($"{i}", 1000);
        Add("0", 1000);
        Assert.That(Told(), Does.StartWith("0 2, 9 1").And.Not.Contain("0 1"));
        Add("x", 1000);
        Add("1", 1000);
        Assert.That(Told(), Does.StartWith("1 1, x 1, 0 2").And.EndWith("2 1, 1 1"), "ten were newer");
    }

    private void Add(string what, long unixMs) =>
        _log.Add(new Denial(DenialReason.Key, DenialPlace.TopLevel, what, "ann") { UnixMs = unixMs });

    private string Told() => string.Join(", ", _log.Newest(long.MaxValue).Select(static one => $"{one.Object} {one.Count}"));
}
