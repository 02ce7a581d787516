using Garnet.Aof.Format;
using Garnet.Aof.Writing;
using NUnit.Framework;

namespace Garnet.Aof.Test.Writing;

/// <summary>
/// Reads the sublogs of a disk as website/docs/format/aof.md describes them and fails the test at anything else: gaps,
/// broken chains, wrong counts, bytes that are not zero where nothing was written.
/// </summary>
internal static class BatchDecoder
{
    private const int PartAlignment = 64, WriteAlignment = 4096;

    /// <summary>All whole batches, in order; the parts of each joined.</summary>
    public static List<DecodedBatch> Read(MemoryDisk disk, int sublogs, uint chainFrom = 0)
    {
        List<DecodedBatch>[] parts = [.. Enumerable.Range(0, sublogs).Select(sublog => ReadSublog(disk, sublog, sublogs, chainFrom))];
        var batches = new List<DecodedBatch>();
        for (int i = 0; i < parts.Min(static sublog => sublog.Count); i++)
        {
            DecodedBatch first = parts[0][i];
            foreach (List<DecodedBatch> sublog in parts)
            {
                Assert.That((sublog[i].Number, sublog[i].Header.Kind), Is.EqualTo((first.Number, first.Header.Kind)));
                if (sublog != parts[0]) first.Entries.AddRange(sublog[i].Entries);
            }
            batches.Add(first);
        }
        return batches;
    }

    /// <summary>The parts of one sublog, over all its files.</summary>
    public static List<DecodedBatch> ReadSublog(MemoryDisk disk, int sublog, int sublogs, uint chainFrom = 0)
    {
        var found = new List<DecodedBatch>();
        uint chain = chainFrom;
        foreach (string name in disk.List())
        {
            Assert.That(LogFileName.TryParse(name, out int owner, out ulong first), Is.True, name);
            if (owner != sublog) continue;
            byte[] bytes = disk.Bytes(name);
            Assert.That(FileHeader.TryRead(bytes, out FileHeader header), Is.EqualTo(HeaderState.Whole), name);
            Assert.That((header.Sublog, header.Sublogs, header.FirstBatch), Is.EqualTo(((byte)sublog, (byte)sublogs, first)), name);
            if (found.Count > 0) Assert.That(header.FirstBatch, Is.EqualTo(found[^1].Number + 1), name);
            Assert.That(header.PreviousCrc, Is.EqualTo(chain), name);
            ReadFile(name, bytes, header, found, ref chain);
        }
        return found;
    }

    private static void ReadFile(string name, byte[] bytes, FileHeader file, List<DecodedBatch> found, ref uint chain)
    {
        ulong next = file.FirstBatch;
        int end = FileHeader.Bytes, at;
        while ((at = FindHeader(bytes, end, out BatchHeader header, out uint crc)) >= 0)
        {
            Assert.That(bytes.AsSpan(end, at - end).ContainsAnyExcept((byte)0), Is.False, $"{name}: padding before {at}");
            Assert.That(header.Batch, Is.EqualTo(next++), $"{name} at {at}");
            Assert.That((header.PreviousCrc, header.Part, header.Parts, header.Term),
                Is.EqualTo((chain, file.Sublog, file.Sublogs, file.Term)));
            ReadOnlySpan<byte> body = bytes.AsSpan(at + BatchHeader.Bytes, (int)header.BodyBytes);
            Assert.That(Crc32C.OfSimply(body), Is.EqualTo(header.BodyCrc), $"{name} at {at}");
            found.Add(new DecodedBatch(header, crc, Entries(header, body, file)));
            chain = crc;
            end = at + BatchHeader.Bytes + (int)header.BodyBytes;
        }
        Assert.That(bytes.AsSpan(end).ContainsAnyExcept((byte)0), Is.False, $"{name}: bytes behind the last batch");
    }

    private static int FindHeader(byte[] bytes, int end, out BatchHeader header, out uint crc)
    {
        foreach (int alignment in (int[])[PartAlignment, WriteAlignment])
        {
            int at = (end + alignment - 1) & -alignment;
            if (at < bytes.Length && BatchHeader.TryRead(bytes.AsSpan(at), out header, out crc) == HeaderState.Whole) return at;
        }
        header = default;
        crc = 0;
        return -1;
    }

    private static List<DecodedEntry> Entries(BatchHeader header, ReadOnlySpan<byte> body, FileHeader file)
    {
        var found = new List<DecodedEntry>();
        ReadOnlySpan<byte> entries = body[(header.Lanes * LaneRow.Bytes)..];
        for (int row = 0; row < header.Lanes; row++)
        {
            LaneRow lane = LaneRow.Read(body[(row * LaneRow.Bytes)..]);
            Assert.That(lane.Lane, Is.LessThan(file.Lanes));
            Assert.That(lane.Lane % file.Sublogs, Is.EqualTo(file.Sublog));
            ReadOnlySpan<byte> own = entries[..(int)lane.EntryBytes];
            entries = entries[own.Length..];
            for (uint i = 0; i < lane.Entries; i++) own = own[ReadEntry(own, lane.Lane, found)..];
            Assert.That(own.Length, Is.Zero);
        }
        Assert.That(entries.Length, Is.Zero);
        Assert.That(found, Has.Count.EqualTo(header.Entries));
        return found;
    }

    private static int ReadEntry(ReadOnlySpan<byte> from, int lane, List<DecodedEntry> found)
    {
        Assert.That(EntryHeader.TryRead(from, out EntryHeader entry), Is.True);
        ReadOnlySpan<byte> rest = from[EntryHeader.Bytes..(int)entry.EntryBytes];
        found.Add(new DecodedEntry(lane, entry.Operation, entry.Database, [.. rest[..entry.KeyBytes]], [.. rest[entry.KeyBytes..]]));
        return (int)entry.EntryBytes;
    }
}
