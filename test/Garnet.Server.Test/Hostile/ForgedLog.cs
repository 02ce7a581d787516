using System.Buffers.Binary;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Test.Writing;

namespace Garnet.Server.Test.Hostile;

/// <summary>
/// A file of the log whose checksums hold and in which anything else may be wrong: entries, the heads of entries, lane tables, headers of
/// batches, the header of the file.
/// </summary>
internal static class ForgedLog
{
    private const int Batches = 4, CrcAt = 60, FileCrcAt = 36, BodyCrcAt = 44, Magic = 5;

    /// <summary>A disk with a fresh directory and such a file; <paramref name="entries"/> are whole, in their order.</summary>
    internal static MemoryDisk Disk(List<byte[]> entries, Random random) => Disk(entries, random, isSpoiled: true);

    /// <summary>The same with nothing wrong but for what the entries are.</summary>
    internal static MemoryDisk Whole(List<byte[]> entries) => Disk(entries, new Random(1), isSpoiled: false);

    private static MemoryDisk Disk(List<byte[]> entries, Random random, bool isSpoiled)
    {
        var disk = new MemoryDisk();
        uint lanes;
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(64))) lanes = (uint)directory.Manifest.Lanes;
        bool spoilsTable = isSpoiled && random.Next(4) == 0, spoilsEntry = isSpoiled && random.Next(3) == 0, spoilsBatch = isSpoiled && random.Next(4) == 0;
        int chosen = random.Next(Batches);
        uint chain = 0;
        byte[] file = new byte[FileHeader.Bytes];
        new FileHeader { Sublog = 0, Sublogs = 1, FirstBatch = 1, Term = 1, Lanes = lanes, HashSeed = 77, PreviousCrc = 0, IsReceived = isSpoiled && random.Next(4) == 0 }.Write(file);
        if (isSpoiled && random.Next(8) == 0) Reseal(file, random, from: Magic, FileCrcAt);
        int each = (entries.Count / Batches) + 1;
        for (int i = 0; i < Batches; i++)
        {
            byte[][] own = [.. entries.Skip(i * each).Take(each).Select(static entry => (byte[])entry.Clone())];
            if (i == chosen && spoilsEntry && own.Length > 0) SpoilHead(own[random.Next(own.Length)], random);
            byte[] body = Body(own, random, i == chosen && spoilsTable);
            byte[] header = new byte[BatchHeader.Bytes];
            chain = new BatchHeader
            {
                Kind = BatchKind.Data, Term = 1, Batch = (ulong)i + 1, SealedUnixUs = 1, Parts = 1, Lanes = (ushort)(own.Length > 0 ? 1 : 0), BodyBytes = (uint)body.Length,
                Entries = (uint)own.Length, PreviousCrc = chain, DurableBatch = random.Next(2) == 0 ? (ulong)i : 0, BodyCrc = Crc32C.Of(body),
            }.Write(header);
            if (i == chosen && spoilsBatch) chain = Reseal(header, random, from: Magic, CrcAt, but: BodyCrcAt);
            file = [.. file, .. header, .. body, .. new byte[-(header.Length + body.Length) & 63]];
        }

        IDiskFile written = disk.Create("aof-00-00000000000000000001.log", file.Length + 4096);
        written.Write(0, file);
        return disk;
    }

    private static byte[] Body(byte[][] entries, Random random, bool spoilsTable)
    {
        if (entries.Length == 0) return [];
        byte[] body = [.. new byte[LaneRow.Bytes], .. entries.SelectMany(static entry => entry)];
        new LaneRow(0, (uint)entries.Length, (uint)(body.Length - LaneRow.Bytes)).Write(body);
        if (spoilsTable) Spoil(body.AsSpan(0, LaneRow.Bytes), random);
        return body;
    }

    private static void SpoilHead(byte[] entry, Random random) => Spoil(entry.AsSpan(0, EntryHeader.Bytes), random);

    private static uint Reseal(byte[] block, Random random, int from, int crcAt, int but = -1)
    {
        byte[] kept = block[..];
        Spoil(block.AsSpan(from, crcAt - from), random);
        if (but >= 0) kept.AsSpan(but, sizeof(uint)).CopyTo(block.AsSpan(but));
        uint crc = Crc32C.Of(block.AsSpan(0, crcAt));
        BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(crcAt), crc);
        return crc;
    }

    private static void Spoil(Span<byte> bytes, Random random)
    {
        int at = random.Next(bytes.Length);
        switch (random.Next(4))
        {
            case 0: bytes[at] ^= (byte)(1 << random.Next(8)); break;
            case 1: bytes[at] = (byte)random.Next(256); break;
            case 2: bytes[at..Math.Min(at + 4, bytes.Length)].Fill(0xFF); break;
            default: bytes[at] += (byte)random.Next(-3, 4); break;
        }
    }
}
