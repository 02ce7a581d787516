using System.Globalization;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Batches of a history that is given up for a primary's, kept beside the log under a name that no recovery reads: a file header,
/// then the parts as they stood in the sublogs' files, batch by batch (website/docs/format/aof.md). The newest few are kept.
/// </summary>
public sealed class OrphanFile(IDisk disk, int lanes, ulong hashSeed) : IDisposable
{
    /// <summary>The end of the name of such a file.</summary>
    public const string Suffix = ".orphan";
    /// <summary>So many are kept: who gives up more histories than that without looking does not miss the first.</summary>
    public const int FilesMax = 10;

    private const string UnfinishedName = "unfinished" + Suffix;
    private IDiskFile? _file;
    private long _bytes, _entries;
    private ulong _first, _last;

    /// <summary>Adds the next batch. Throws <see cref="DiskException"/>.</summary>
    public void Add(BatchBytes batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        if (_file is null)
            Begin(batch);
        for (int part = 0; part < batch.Parts; part++) Append(batch.Part(part));
        _entries += batch.Entries;
        _last = batch.Batch;
    }

    /// <summary>
    /// Makes the file durable and returns its name, null if nothing was in it; <paramref name="dropped"/> are older ones that had to go.
    /// Throws <see cref="DiskException"/>.
    /// </summary>
    public string? Finish(out IReadOnlyList<string> dropped)
    {
        dropped = [];
        if (_file is null || _entries == 0)
            return null;
        _file.SetLength(_bytes);
        _file.Sync();
        Close();
        List<string> kept = [.. disk.List().Where(static name => name.EndsWith(Suffix, StringComparison.Ordinal) && name != UnfinishedName)
            .Order(StringComparer.Ordinal)];
        int number = kept.Count > 0 && int.TryParse(kept[^1].AsSpan(0, 6), NumberStyles.None, CultureInfo.InvariantCulture, out int newest)
            ? newest + 1
            : 1;
        string finished = string.Create(CultureInfo.InvariantCulture, $"{number:D6}-batches-{_first}-{_last}{Suffix}");
        disk.Rename(UnfinishedName, finished);
        dropped = [.. kept.Take(kept.Count + 1 - FilesMax)];
        foreach (string name in dropped) disk.Delete(name);
        disk.SyncDirectory();
        return finished;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_file is null)
            return;
        Close();
        disk.Delete(UnfinishedName);
    }

    private void Begin(BatchBytes first)
    {
        if (disk.List().Contains(UnfinishedName))
            disk.Delete(UnfinishedName); // a crash
        _file = disk.Create(UnfinishedName, 0);
        _first = first.Batch;
        BatchHeader.TryRead(first.Part(0), out BatchHeader header, out _);
        byte[] block = new byte[FileHeader.Bytes];
        new FileHeader
        {
            Sublog = 0, Sublogs = (byte)first.Parts, FirstBatch = first.Batch, Term = first.Term, Lanes = (uint)lanes, HashSeed = hashSeed,
            PreviousCrc = header.PreviousCrc,
        }.Write(block);
        Append(block);
    }

    private void Append(ReadOnlySpan<byte> bytes)
    {
        _file!.Write(_bytes, bytes);
        _bytes += bytes.Length;
    }

    private void Close()
    {
        _file!.Dispose();
        _file = null;
    }
}
