using System.Buffers.Binary;
using Garnet.Aof.Format;

namespace Garnet.Server.Test.Hostile;

/// <summary>
/// A snapshot's file (website/docs/format/snapshot.md) as somebody makes it who knows the format and not the key: parts taken from wherever,
/// in any order, and every checksum and total right.
/// </summary>
internal sealed class ForgedSnapshot
{
    private const int HeaderBytes = 4096, HeaderCrcAt = 4092, BlockHeaderBytes = 16, BlockCrcAt = 12, TagBytes = 16, FooterBytes = 64, FooterCrcAt = 60, BatchAt = 16;
    private const uint BlockMagic = 0x42_53_4E_47, ReferencesMagic = 0x52_53_4E_47, TableMagic = 0x54_53_4E_47;

    internal ForgedSnapshot(byte[] file)
    {
        Header = file[..HeaderBytes];
        int at = HeaderBytes;
        while (BinaryPrimitives.ReadUInt32LittleEndian(file.AsSpan(at)) is BlockMagic or ReferencesMagic or TableMagic)
        {
            int end = at + BlockHeaderBytes + BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(at + 4)) + TagBytes;
            Blocks.Add(file[at..end]);
            at = end;
        }

        Footer = file[at..(at + FooterBytes)];
    }

    internal byte[] Header { get; }

    internal List<byte[]> Blocks { get; } = [];

    internal byte[] Footer { get; }

    internal byte[] File()
    {
        Seal(Header, HeaderCrcAt);
        uint chain = 0;
        ulong records = 0, recordBytes = 0;
        foreach (byte[] block in Blocks)
        {
            uint crc = Crc32C.Of(block.AsSpan(BlockHeaderBytes), Crc32C.Of(block.AsSpan(0, BlockCrcAt)));
            BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(BlockCrcAt), crc);
            chain = Crc32C.Of(block.AsSpan(BlockCrcAt, sizeof(uint)), chain);
            records += BinaryPrimitives.ReadUInt32LittleEndian(block) == TableMagic ? 0 : BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(8));
            recordBytes += BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(4));
        }

        BinaryPrimitives.WriteUInt64LittleEndian(Footer.AsSpan(8), (ulong)Blocks.Count);
        BinaryPrimitives.WriteUInt64LittleEndian(Footer.AsSpan(16), records);
        BinaryPrimitives.WriteUInt64LittleEndian(Footer.AsSpan(24), recordBytes);
        Header.AsSpan(BatchAt, sizeof(ulong)).CopyTo(Footer.AsSpan(32));
        BinaryPrimitives.WriteUInt32LittleEndian(Footer.AsSpan(40), chain);
        Seal(Footer, FooterCrcAt);
        byte[] file = [.. Header, .. Blocks.SelectMany(static block => block), .. Footer];
        return [.. file, .. new byte[-file.Length & 4095]];
    }

    private static void Seal(byte[] part, int crcAt) =>
        BinaryPrimitives.WriteUInt32LittleEndian(part.AsSpan(crcAt), Crc32C.Of(part.AsSpan(0, crcAt)));
}
