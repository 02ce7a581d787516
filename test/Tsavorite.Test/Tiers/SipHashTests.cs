using System.Diagnostics;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What checksums on the tier are made with, against what its authors have published.</summary>
internal sealed unsafe class SipHashTests
{
    // The paper's appendix A: SipHash-2-4 under the key 00 01 … 0f of the bytes 00 01 … 0e; and of the first of these, as in the reference implementation's vectors.
    [TestCase(15, 0xA129CA6149BE45E5UL)]
    [TestCase(0, 0x726FDB47DD0E0E31UL)]
    [TestCase(1, 0x74F839C593DC67FDUL)]
    [TestCase(2, 0x0D6C8009D9A94F5AUL)]
    [TestCase(3, 0x85676696D7FB7E2DUL)]
    [TestCase(7, 0xAB0200F58B01D137UL)]
    [TestCase(8, 0x93F5F5799A932462UL)]
    [TestCase(9, 0x9E0082DF0BA9E4B0UL)]
    public void It_is_what_the_paper_says(int bytes, ulong hash)
    {
        SipHash sum = new(0x0706050403020100, 0x0F0E0D0C0B0A0908, 2, 4);
        byte[] text = [.. Enumerable.Range(0, bytes).Select(static i => (byte)i), 0];
        fixed (byte* from = text) sum.Add(from, bytes);
        Assert.That(sum.End(), Is.EqualTo(hash));
    }

    [Test]
    public void In_parts_of_whole_words_it_is_the_same()
    {
        byte[] text = TieredBench.Value(1, 100);
        fixed (byte* from = text)
        {
            for (int bytes = 0; bytes < text.Length; bytes++)
            {
                for (int cut = 0; cut <= bytes; cut += 8)
                {
                    SipHash whole = new TierSecret(1, 2).Begin(), parts = new TierSecret(1, 2).Begin();
                    whole.Add(from, bytes);
                    parts.Add(from, cut);
                    parts.Add(from + cut, bytes - cut);
                    Assert.That(parts.End(), Is.EqualTo(whole.End()), $"{cut} of {bytes}");
                }
            }
        }
    }

    [Test, Explicit("prints figures")]
    public void What_it_costs([Values(64, 1024, 4096)] int bytes)
    {
        const int Rounds = 2_000_000;
        byte[] image = TieredBench.Value(1, bytes);
        image[5] = 0;
        fixed (byte* record = image)
        {
            foreach (RecordKind kind in (RecordKind[])[RecordKind.String, RecordKind.Hash, RecordKind.String, RecordKind.Hash])
            {
                record[4] = (byte)kind;
                uint sum = 0;
                long begun = Stopwatch.GetTimestamp();
                for (int i = 0; i < Rounds; i++) sum ^= ColdRecord.SumOf(record, bytes, new ColdPlace(7, i, new TierSecret(1, 2)));
                TestContext.Out.WriteLine($"{bytes} bytes, {kind}: {Stopwatch.GetElapsedTime(begun).TotalNanoseconds / Rounds:F1} ns ({sum:x})");
            }
        }
    }
}
