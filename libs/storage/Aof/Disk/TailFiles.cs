using System.Globalization;
using Garnet.Aof.Format;
using Garnet.Aof.Pm;
using Garnet.Aof.Reading;

namespace Garnet.Aof.Disk;

/// <summary>
/// Puts into the files what a killed process had written to them and not handed to the disk (<see cref="StagedFile"/>).
/// log.D3: that only ever adds: a block in which the file holds anything else than the ring ends it. A ring from before the system's
/// last start is of no use and forgotten: of unsynced writes a power cut keeps any.
/// log.D4: a ring that is of another file, or older or younger than the file beside it, changes nothing and stays: what is missing may be put back.
/// </summary>
internal static class TailFiles
{
    private const int Block = 4096;

    /// <summary>Does so for all files of the directory; what was done, for people.</summary>
    public static IReadOnlyList<string> Complete(IDisk disk)
    {
        var messages = new List<string>();
        bool changed = false;
        foreach (string tail in disk.List())
        {
            if (!tail.EndsWith(StagingFile.Suffix, StringComparison.Ordinal))
                continue;
            string name = tail[..^StagingFile.Suffix.Length];
            if (!disk.List().Contains(name) && IsLast(disk, name))
                continue; // log.D4
            long bytes = disk.List().Contains(name) ? Add(disk, name, System.IO.Path.Combine(disk.Path, tail)) : 0;
            if (bytes < 0)
                continue; // log.D4
            if (bytes > 0)
                messages.Add(string.Create(CultureInfo.InvariantCulture,
                    $"{bytes:N0} bytes that a killed server had written were put into {name}."));
            disk.Delete(tail);
            changed = true;
        }
        if (changed)
            disk.SyncDirectory();
        return messages;
    }

    /// <summary>
    /// A file of the log whose end stood in a tail that is not there any more, though the system has not been started anew; null if there is
    /// none. After <see cref="Complete"/>.
    /// </summary>
    public static string? Missing(IDisk disk)
    {
        foreach (LogFile log in LogFiles.All(disk).GroupBy(static log => log.Sublog).Select(static logs => logs.Last()))
        {
            using IDiskFile file = disk.Open(log.Name);
            if (NeedsTail(file))
                return log.Name;
        }
        return null;
    }

    /// <summary>A file of the log whose end stands in a ring in persistent memory that none of these numbers is of; null if there is none.</summary>
    public static string? Awaiting(IDisk disk, IReadOnlyList<ulong> numbers)
    {
        foreach (LogFile log in LogFiles.All(disk))
        {
            using IDiskFile file = disk.Open(log.Name);
            bool isInRing = TryHeader(file, out FileHeader header) && header.HasTail && header.Run == PmRing.Run;
            if (isInRing && !numbers.Contains(header.TailNumber))
                return log.Name;
        }
        return null;
    }

    /// <summary>The log goes on without the tails that are missing: no file says any more that it has one.</summary>
    public static void GiveUp(IDisk disk)
    {
        while (Missing(disk) is { } name)
        {
            using IDiskFile file = disk.Open(name);
            Settle(file);
        }
    }

    // All is in the file: it no longer says that it has a tail.
    internal static void Settle(IDiskFile file)
    {
        if (!TryHeader(file, out FileHeader header) || !header.HasTail)
            return;
        byte[] block = new byte[FileHeader.Bytes];
        (header with { HasTail = false }).Write(block);
        file.Write(0, block);
        file.Sync();
    }

    internal static bool TryHeader(IDiskFile file, out FileHeader header)
    {
        byte[] block = new byte[FileHeader.Bytes];
        return FileHeader.TryRead(block.AsSpan(0, file.Read(0, block)), out header) == HeaderState.Whole;
    }

    private static bool NeedsTail(IDiskFile file) =>
        TryHeader(file, out FileHeader header) && header.HasTail && (header.Run == StagingFile.Run || header.Run == PmRing.Run);

    private static bool IsLast(IDisk disk, string name) => LogFileName.TryParse(name, out int sublog, out ulong first)
        && LogFiles.Of(disk, sublog).TrueForAll(other => other.FirstBatch < first);

    // Bytes added; -1 if the tail is no ring, or not of this file as it is.
    private static long Add(IDisk disk, string name, string tailPath)
    {
        using StagingFile? ring = StagingFile.TryOpen(tailPath);
        using IDiskFile file = disk.Open(name);
        if (ring is null)
        {
            if (NeedsTail(file))
                return -1;
            if (StagingFile.IsOfEarlierRun(tailPath))
                Settle(file);
            return 0;
        }
        if (!IsOf(file, ring))
            return -1;
        long to = ring.Written, added = 0;
        for (long at = ring.Drained; at < to; at += Block)
        {
            Span<byte> bytes = ring.At(at, Math.Min(to - at, Block));
            if (!TryAdd(file, at, bytes, ref added))
                break;
        }
        if (added > 0)
            file.Sync();
        Settle(file);
        return added;
    }

    // What a killed process leaves: the ring that the header names, all before its first end in the file, and nothing behind its second.
    private static bool IsOf(IDiskFile file, StagingFile ring)
    {
        if (file.Length < ring.Written)
            return false;
        bool isWhole = TryHeader(file, out FileHeader header);
        if (isWhole && header.HasTail)
            return header.TailNumber == ring.Number && (ring.FileLength == 0 || file.Length == ring.FileLength) && IsOfItsTime(file, ring);
        if (isWhole)
            return Holds(file, ring, ring.Drained, ring.Written - ring.Drained); // it was closed, or its tail put into it
        return true;
    }

    private static bool IsOfItsTime(IDiskFile file, StagingFile ring)
    {
        long before = ring.Drained - Block;
        if (before >= Math.Max(Block, ring.Written - StagingFile.RingBytes) && !Holds(file, ring, before, Block))
            return false;
        Span<byte> behind = stackalloc byte[2 * Block];
        return !behind[..file.Read(ring.Written, behind)].ContainsAnyExcept((byte)0);
    }

    private static bool Holds(IDiskFile file, StagingFile ring, long from, long bytes)
    {
        Span<byte> there = stackalloc byte[Block];
        for (long at = from; at < from + bytes;)
        {
            ReadOnlySpan<byte> wanted = ring.At(at, Math.Min(from + bytes - at, Block));
            if (file.Read(at, there[..wanted.Length]) != wanted.Length || !wanted.SequenceEqual(there[..wanted.Length]))
                return false;
            at += wanted.Length;
        }
        return true;
    }

    private static bool TryAdd(IDiskFile file, long at, ReadOnlySpan<byte> bytes, ref long added)
    {
        Span<byte> there = stackalloc byte[Block];
        there = there[..file.Read(at, there[..bytes.Length])];
        int same = there.CommonPrefixLength(bytes);
        if (there[same..].ContainsAnyExcept((byte)0))
            return false;
        if (same < bytes.Length)
            file.Write(at, bytes);
        added += bytes.Length - same;
        return true;
    }
}
