using System.Globalization;
using Garnet.Wire.Rdb;
using Tsavorite;

namespace Garnet.Rdb.Test;

/// <summary>Every form that there has been is read; what is written is read again as the same; what is damaged is refused or sound.</summary>
public sealed unsafe class PayloadTests
{
    private const int DefaultSeed = 20_240_711, Rounds = 20_000;

    private static IEnumerable<TestCaseData> Forms => Payloads.All().Concat(Payloads.Newer()).Select(static form => new TestCaseData(form.Payload).SetArgDisplayNames(form.Name));

    [TestCaseSource(nameof(Forms))]
    public void What_is_written_of_a_value_makes_the_same_value(byte[] payload)
    {
        using ValueStore first = new(), second = new();
        Assert.That(first.TryPut(payload), Is.True);
        byte[] written = first.Dump()!;
        Assert.That(second.TryPut(written), Is.True);
        Assert.That(second.Dump(), Is.EqualTo(written));
    }

    [TestCaseSource(nameof(Forms))]
    public void A_payload_that_is_cut_is_refused(byte[] payload)
    {
        using var store = new ValueStore();
        for (int bytes = 0; bytes < payload.Length - 10; bytes++)
            Assert.That(store.TryPut(Payloads.Close(payload.AsSpan(0, bytes))), Is.False, $"{bytes} of {payload.Length - 10} bytes");
    }

    [TestCaseSource(nameof(Forms))]
    public void A_payload_with_a_wrong_checksum_is_refused(byte[] payload)
    {
        using var store = new ValueStore();
        byte[] other = [.. payload];
        other[^1] ^= 1;
        Assert.That(store.TryPut(other), Is.False);
        Assert.That(store.Dump(), Is.Null);
    }

    [Test]
    public void A_damaged_payload_under_a_right_checksum_is_refused_or_becomes_a_sound_value()
    {
        int seed = int.TryParse(Environment.GetEnvironmentVariable("GARNET_FUZZ_SEED"), CultureInfo.InvariantCulture, out int given) ? given : DefaultSeed;
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={seed}");
        var random = new Random(seed);
        byte[][] forms = [.. Payloads.All().Concat(Payloads.Newer()).Select(static form => form.Payload)];
        using var store = new ValueStore();
        int taken = 0;
        for (int round = 0; round < Rounds; round++)
        {
            byte[] value = forms[random.Next(forms.Length)][..^10];
            for (int faults = random.Next(1, 4); faults > 0; faults--)
                value[random.Next(value.Length)] = (byte)random.Next(256);
            taken += store.TryPut(Payloads.Close(value)) ? 1 : 0;
        }

        Assert.That(taken, Is.InRange(1, Rounds - 1));
        Assert.That(StoreCheck.Run(store.Store), Is.Empty);
    }

    [Test]
    public void The_checksum_is_that_of_Redis()
    {
        fixed (byte* digits = "123456789"u8)
            Assert.That(Crc64.Append(0, digits, 9), Is.EqualTo(0xE9C6D914C4B8D9CA), "the check value in Redis's crc64.c");
        byte[] bytes = new byte[1000];
        new Random(1).NextBytes(bytes);
        fixed (byte* start = bytes)
        {
            ulong whole = Crc64.Append(0, start, bytes.Length);
            Assert.That(whole, Is.EqualTo(Payloads.Crc(bytes)));
            for (int cut = 0; cut <= 20; cut++)
                Assert.That(Crc64.Append(Crc64.Append(0, start, cut), start + cut, bytes.Length - cut), Is.EqualTo(whole), $"in two parts, at {cut}");
        }
    }
}
