namespace Garnet.Common.Test.Settings;

public sealed class SettingTextTests
{
    [TestCase("0", 0)]
    [TestCase("1024", 1024)]
    [TestCase("10b", 10)]
    [TestCase("1k", 1000)]
    [TestCase("1kb", 1024)]
    [TestCase("100mb", 100L << 20)]
    [TestCase("2M", 2_000_000)]
    [TestCase("1g", 1_000_000_000)]
    [TestCase("1GB", 1L << 30)]
    [TestCase("9223372036854775807", long.MaxValue)]
    public void Memory_sizes_are_read(string text, long expected)
    {
        Assert.That(SettingText.TryMemory(text, out long bytes), Is.True);
        Assert.That(bytes, Is.EqualTo(expected));
    }

    [TestCase("")]
    [TestCase("-1")]
    [TestCase("1x")]
    [TestCase("1 gb")]
    [TestCase("gb")]
    [TestCase("1gbb")]
    [TestCase("1.5gb")]
    [TestCase("9223372036854775808")]
    [TestCase("9999999999gb")]
    public void What_is_no_memory_size_is_refused(string text) => Assert.That(SettingText.TryMemory(text, out _), Is.False);

    [TestCase("5", 5)]
    [TestCase("5s", 5)]
    [TestCase("2m", 120)]
    [TestCase("1h", 3600)]
    [TestCase("3000ms", 3)]
    public void Times_are_read_in_the_settings_unit(string text, long seconds)
    {
        var declared = new SettingAttribute("t", "") { Unit = SettingUnit.Seconds };
        Assert.That(SettingText.TryNumber(text, declared, out long value), Is.Null);
        Assert.That(value, Is.EqualTo(seconds));
    }

    [TestCase("5x")]
    [TestCase("1500ms")]
    [TestCase("+5")]
    [TestCase("05")]
    [TestCase(" 5")]
    [TestCase("9223372036854775807h")]
    public void What_is_no_whole_number_of_seconds_is_refused(string text)
    {
        var declared = new SettingAttribute("t", "") { Unit = SettingUnit.Seconds };
        Assert.That(SettingText.TryNumber(text, declared, out _), Is.EqualTo(SettingText.NotInteger));
    }

    [Test]
    public void Permissions_are_octal()
    {
        var declared = new SettingAttribute("t", "") { Unit = SettingUnit.Octal, Min = 0, Max = 511 };
        Assert.That(SettingText.TryNumber("0770", declared, out long value), Is.Null);
        Assert.That(SettingText.PrintNumber(value, SettingUnit.Octal), Is.EqualTo("770"));
        Assert.That(SettingText.TryNumber("999", declared, out _), Is.EqualTo(SettingText.NotInteger));
        Assert.That(SettingText.TryNumber("1000", declared, out _), Is.EqualTo("argument must be between 0 and 777 inclusive"));
    }

    [TestCase("yes", true, true)]
    [TestCase("NO", true, false)]
    [TestCase("1", false, false)]
    public void Yes_and_no_are_the_only_answers(string text, bool read, bool expected)
    {
        Assert.That(SettingText.TryYesNo(text, out bool value), Is.EqualTo(read));
        Assert.That(value, Is.EqualTo(expected));
    }
}
