using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Makes the end of a log its end on disk: nothing stays behind the last batch that counts, so that what is written next can
/// never be followed by something old. Done again after a crash in between, it comes to the same: the youngest files go first,
/// for a file says of the one before it that it was whole. A damaged log that ends before the snapshot does gives way as a whole: the
/// snapshot holds more, and of its sublogs each would end with another batch.
/// </summary>
internal sealed class LogCut(IDisk disk, CorruptionPolicy keeping)
{
    private readonly List<string> _kept = [];
    private bool _directoryChanged;

    /// <summary>Names under which damaged files are kept.</summary>
    public IReadOnlyList<string> Kept => _kept;

    /// <summary>
    /// Cuts behind the last batch the reader found. With <see cref="CorruptionPolicy.Truncate"/> the originals are kept aside.
    /// </summary>
    public void Apply(LogReader reader)
    {
        foreach (SublogCursor cursor in reader.Cursors)
            for (int i = cursor.Files.Count - 1; i >= (DropsAll(reader) ? 0 : FirstBehind(cursor)); i--) Remove(cursor.Files[i].Name);
        if (_directoryChanged)
            disk.SyncDirectory();
        if (DropsAll(reader))
            return;
        foreach (SublogCursor cursor in reader.Cursors) CutHead(cursor);
    }

    /// <summary>
    /// A manifest that is true before the cut and after it: it names the file that each sublog ends with then, and as much of it, and no
    /// later end than the log has.
    /// </summary>
    public Manifest Left(LogReader reader, Manifest before) => DropsAll(reader) ? before with { Logs = [], Ended = 0 }
        : before with { Logs = [.. reader.Cursors.Select(Left)], Ended = Math.Min(before.Ended, reader.LastBatch) };

    private bool DropsAll(LogReader reader) => keeping == CorruptionPolicy.Truncate && reader.IsBehindSnapshot;

    private NamedLog Left(SublogCursor cursor)
    {
        int last = FirstBehind(cursor) - 1;
        if (last < 0 || last >= cursor.Files.Count || NamedFiles.HeaderOf(disk, cursor.Files[last].Name) is not { } header)
            return default;
        long bytes = last == cursor.FileIndex ? cursor.Offset : LogFiles.Bytes(disk, cursor.Files[last].Name);
        return new NamedLog(cursor.Files[last].FirstBatch, header.Identity, bytes);
    }

    // A file without a batch that counts goes as well: the writer makes it anew.
    private static int FirstBehind(SublogCursor cursor) =>
        cursor.FileIndex >= 0 && cursor.Offset > FileHeader.Bytes ? cursor.FileIndex + 1 : Math.Max(cursor.FileIndex, 0);

    private void CutHead(SublogCursor cursor)
    {
        if (FirstBehind(cursor) != cursor.FileIndex + 1 || cursor.FileIndex < 0)
            return;
        string name = cursor.Files[cursor.FileIndex].Name;
        using IDiskFile file = disk.Open(name);
        if (file.Length > cursor.Offset)
        {
            if (keeping == CorruptionPolicy.Truncate)
                _kept.Add(Aside.Copy(disk, name));
            file.SetLength(cursor.Offset);
        }
        // What a killed process left may be in the system's memory only, and from now on it counts as durable.
        file.Sync();
    }

    private void Remove(string name)
    {
        _directoryChanged = true;
        if (keeping == CorruptionPolicy.Truncate)
            _kept.Add(Aside.Move(disk, name));
        else
            disk.Delete(name);
    }
}
