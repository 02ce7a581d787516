using System.Globalization;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;

namespace Garnet.Aof.Disk;

/// <summary>
/// Puts into the files what a killed process had written to them and not handed to the disk (<see cref="StagedFile"/>).
/// D3: that only ever adds: a block in which the file holds anything else than the ring ends it. A ring from before the system's
/// last start is of no use and forgotten: of unsynced writes a power cut keeps any.
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
            if (!tail.EndsWith(StagingFile.Suffix, StringComparison.Ordinal)) continue;
            string name = tail[..^StagingFile.Suffix.Length];
            long bytes = disk.List().Contains(name) ? Add(disk, name, System.IO.Path.Combine(disk.Path, tail)) : 0;
            if (bytes < 0) continue; // not a ring any more: of use to whoever wants to know why
            if (bytes > 0) messages.Add(string.Create(CultureInfo.InvariantCulture, $"{bytes:N0} bytes that a killed server had written were put into {name}."));
            disk.Delete(tail);
            changed = true;
        }
        if (changed) disk.SyncDirectory();
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
            if (NeedsTail(file)) return log.Name;
        }
        return null;
    }

    // All is in the file: it no longer says that it has a tail.
    private static void Settle(IDiskFile file)
    {
        if (!TryHeader(file, out FileHeader header) || !header.HasTail) return;
        byte[] block = new byte[FileHeader.Bytes];
        (header with { HasTail = false }).Write(block);
        file.Write(0, block);
        file.Sync();
    }

    private static bool TryHeader(IDiskFile file, out FileHeader header)
    {
        byte[] block = new byte[FileHeader.Bytes];
        return FileHeader.TryRead(block.AsSpan(0, file.Read(0, block)), out header) == HeaderState.Whole;
    }

    private static bool NeedsTail(IDiskFile file) => TryHeader(file, out FileHeader header) && header.HasTail && header.Run == StagingFile.Run;

    // Bytes added; -1 if the tail is no ring, and the file needs one.
    private static long Add(IDisk disk, string name, string tailPath)
    {
        using StagingFile? ring = StagingFile.TryOpen(tailPath);
        using IDiskFile file = disk.Open(name);
        if (ring is null)
        {
            if (!StagingFile.IsOfEarlierRun(tailPath)) return NeedsTail(file) ? -1 : 0;
            Settle(file);
            return 0;
        }
        long to = Math.Min(ring.Written, file.Length), added = 0;
        for (long at = ring.Drained; at < to; at += Block)
        {
            Span<byte> bytes = ring.At(at, Math.Min(to - at, Block));
            if (!TryAdd(file, at, bytes, ref added)) break;
        }
        if (added > 0) file.Sync();
        Settle(file);
        return added;
    }

    private static bool TryAdd(IDiskFile file, long at, ReadOnlySpan<byte> bytes, ref long added)
    {
        Span<byte> there = stackalloc byte[Block];
        there = there[..file.Read(at, there[..bytes.Length])];
        int same = there.CommonPrefixLength(bytes);
        if (there[same..].ContainsAnyExcept((byte)0)) return false;
        if (same < bytes.Length) file.Write(at, bytes);
        added += bytes.Length - same;
        return true;
    }
}
