using CsCheck;
using Garnet.Aof.Format;
using NUnit.Framework;

namespace Garnet.Aof.Test;

/// <summary>The checksum in three streams is the checksum.</summary>
public sealed class Crc32CTests
{
    [Test]
    public void Three_streams_give_what_one_gives_at_any_length_and_offset()
    {
        Gen<byte[]> bytes = Gen.OneOf(Gen.Byte.Array[0, 2_000], Gen.Byte.Array[0, 100_000]);
        Gen.Select(bytes, Gen.Int[0, 63], Gen.UInt).Sample(
            static (all, offset, before) => Crc32C.Of(Behind(all, offset), before) == Crc32C.OfSimply(Behind(all, offset), before), iter: 2_000);
    }

    private static ReadOnlySpan<byte> Behind(byte[] all, int offset) => all.AsSpan(Math.Min(offset, all.Length));

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
