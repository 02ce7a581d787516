using Garnet.Aof.Format;
using NUnit.Framework;

namespace Garnet.Aof.Test;

/// <summary>The checksum in three streams is the checksum.</summary>
public sealed class Crc32CTests
{
    [Test]
    public void Three_streams_give_what_one_gives_at_any_length_and_offset([Range(1, 20)] int seed)
    {
        var random = new Random(seed);
        byte[] bytes = new byte[100_000];
        random.NextBytes(bytes);
        for (int i = 0; i < 100; i++)
        {
            int offset = random.Next(64), length = random.Next(i < 50 ? 2_000 : bytes.Length - offset);
            uint before = (uint)random.Next();
            ReadOnlySpan<byte> some = bytes.AsSpan(offset, length);
            Assert.That(Crc32C.Of(some, before), Is.EqualTo(Crc32C.OfSimply(some, before)), $"seed {seed} offset {offset} length {length}");
        }
    }

    [Test]
    public void A_file_header_is_read_back_and_every_flipped_bit_is_noticed()
    {
        byte[] bytes = new byte[FileHeader.Bytes];
        var header = new FileHeader
        {
            Sublog = 1, Sublogs = 2, FirstBatch = 0x0102030405060708, Term = 3, Lanes = 64, HashSeed = 0x1112131415161718,
            PreviousCrc = 0xDEADBEEF,
        };
        header.Write(bytes);
        Assert.That(FileHeader.TryRead(bytes, out FileHeader read), Is.EqualTo(HeaderState.Whole));
        Assert.That(read, Is.EqualTo(header));
        for (int bit = 0; bit < 40 * 8; bit++)
        {
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.That(FileHeader.TryRead(bytes, out _), Is.EqualTo(bit < 32 ? HeaderState.None : HeaderState.Damaged), $"bit {bit}");
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }
}
