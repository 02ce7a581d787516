using System.Globalization;

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
            if (bytes > 0) messages.Add(string.Create(CultureInfo.InvariantCulture, $"{bytes:N0} bytes that a killed server had written were put into {name}."));
            disk.Delete(tail);
            changed = true;
        }
        if (changed) disk.SyncDirectory();
        return messages;
    }

    private static long Add(IDisk disk, string name, string tailPath)
    {
        using StagingFile? ring = StagingFile.TryOpen(tailPath);
        if (ring is null) return 0;
        using IDiskFile file = disk.Open(name);
        long from = ring.Drained, at = from, to = Math.Min(ring.Written, file.Length);
        while (at < to && TryAdd(file, at, ring.At(at, Math.Min(to - at, Block)))) at += Math.Min(to - at, Block);
        if (at > from) file.Sync();
        return at - from;
    }

    private static bool TryAdd(IDiskFile file, long at, ReadOnlySpan<byte> bytes)
    {
        Span<byte> there = stackalloc byte[Block];
        there = there[..file.Read(at, there[..bytes.Length])];
        for (int i = 0; i < there.Length; i++)
        {
            if (there[i] != 0 && there[i] != bytes[i]) return false;
        }
        file.Write(at, bytes);
        return true;
    }
}
