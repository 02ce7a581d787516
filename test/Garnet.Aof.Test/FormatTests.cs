using System.Text;
using Garnet.Aof.Format;
using NUnit.Framework;

namespace Garnet.Aof.Test;

/// <summary>The bytes on disk: what is written is read back, and any changed bit is noticed.</summary>
public sealed class FormatTests
{
    private static readonly BatchHeader Sample = new()
    {
        Kind = BatchKind.Data, Term = 7, Batch = 0x0102030405060708, SealedUnixUs = 1_790_000_000_000_000, Part = 1, Parts = 2, Lanes = 64,
        BodyBytes = 12_345, Entries = 99, PreviousCrc = 0xDEADBEEF, BodyCrc = 0xCAFEBABE,
    };

    // RFC 3720 B.4.
    [Test]
    public void The_checksum_is_CRC_32C()
    {
        Assert.That(Crc32C.Of(new byte[32]), Is.EqualTo(0x8A9136AA));
        Assert.That(Crc32C.Of([.. Enumerable.Repeat((byte)0xFF, 32)]), Is.EqualTo(0x62A8AB43));
        Assert.That(Crc32C.Of(Encoding.ASCII.GetBytes("123456789")), Is.EqualTo(0xE3069283));
    }

    [Test]
    public void A_checksum_goes_on_where_another_ended([Values(0, 1, 7, 8, 100)] int cut)
    {
        byte[] bytes = new byte[100];
        new Random(1).NextBytes(bytes);
        Assert.That(Crc32C.Of(bytes.AsSpan(cut), Crc32C.Of(bytes.AsSpan(0, cut))), Is.EqualTo(Crc32C.Of(bytes)));
    }

    [Test]
    public void A_batch_header_is_read_back()
    {
        byte[] bytes = new byte[BatchHeader.Bytes];
        uint written = Sample.Write(bytes);
        Assert.That(BatchHeader.TryRead(bytes, out BatchHeader header, out uint crc), Is.EqualTo(HeaderState.Whole));
        Assert.That((header, crc), Is.EqualTo((Sample, written)));
    }

    [Test]
    public void Every_flipped_bit_of_a_batch_header_is_noticed([Range(0, (BatchHeader.Bytes * 8) - 1)] int bit)
    {
        byte[] bytes = new byte[BatchHeader.Bytes];
        Sample.Write(bytes);
        bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        Assert.That(BatchHeader.TryRead(bytes, out _, out _), Is.EqualTo(bit < 32 ? HeaderState.None : HeaderState.Damaged));
    }

    [Test]
    public void An_entry_header_that_promises_more_than_there_is_is_refused()
    {
        byte[] bytes = new byte[EntryHeader.Bytes + 10];
        new EntryHeader((uint)bytes.Length, 2, 4, 3).Write(bytes);
        Assert.That(EntryHeader.TryRead(bytes, out EntryHeader header), Is.True);
        Assert.That(header, Is.EqualTo(new EntryHeader((uint)bytes.Length, 2, 4, 3)));
        Assert.That(EntryHeader.TryRead(bytes.AsSpan(0, bytes.Length - 1), out _), Is.False);
        new EntryHeader((uint)bytes.Length, 2, 11, 3).Write(bytes);
        Assert.That(EntryHeader.TryRead(bytes, out _), Is.False);
    }
}
