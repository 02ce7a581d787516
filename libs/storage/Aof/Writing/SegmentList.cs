using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Writing;

/// <summary>
/// The segment files that exist, in all sublogs, those of earlier runs included, and their deletion.
/// log.W5: a file goes only as a whole, when all its batches are below the bound, and never the one that is written.
/// </summary>
internal sealed class SegmentList(IDisk disk)
{
    private readonly Lock _gate = new();
    private readonly List<Entry> _files = [];

    private readonly record struct Entry(int Sublog, ulong First, long Bytes);

    /// <summary>Looks at the directory.</summary>
    public void Load()
    {
        lock (_gate)
        {
            _files.Clear();
            foreach (string name in disk.List())
            {
                if (!LogFileName.TryParse(name, out int sublog, out ulong first))
                    continue;
                using IDiskFile file = disk.Open(name);
                _files.Add(new Entry(sublog, first, file.Length));
            }
        }
    }

    public bool Has(int sublog, ulong firstBatch)
    {
        lock (_gate) return _files.Exists(file => file.Sublog == sublog && file.First == firstBatch);
    }

    public void Add(int sublog, ulong firstBatch, long bytes)
    {
        lock (_gate) _files.Add(new Entry(sublog, firstBatch, bytes));
    }

    public void Remove(int sublog, ulong firstBatch)
    {
        lock (_gate) _files.RemoveAll(file => file.Sublog == sublog && file.First == firstBatch);
    }

    /// <summary>
    /// Deletes the files all of whose batches are below <paramref name="before"/>. A file ends where the sublog's next begins;
    /// the last of a sublog that is no longer written ends at <paramref name="lastOfEarlierRuns"/>.
    /// </summary>
    public void Truncate(ulong before, int sublogs, ulong lastOfEarlierRuns)
    {
        lock (_gate)
        {
            Entry[] gone = [.. _files.Where(file => EndOf(file, sublogs, lastOfEarlierRuns) < before).OrderBy(static file => file.First)];
            foreach (Entry file in gone)
            {
                disk.Delete(LogFileName.Of(file.Sublog, file.First));
                _files.Remove(file);
            }
            if (gone.Length > 0)
                disk.SyncDirectory();
        }
    }

    /// <summary>Number of files, their bytes, and the first batch that all <paramref name="sublogs"/> hold (0: none holds any).</summary>
    public (int Count, long Bytes, ulong FirstBatch) Figures(int sublogs)
    {
        lock (_gate)
        {
            ulong first = 0;
            for (int sublog = 0; sublog < sublogs; sublog++)
            {
                ulong own = ulong.MaxValue;
                foreach (Entry file in _files)
                {
                    if (file.Sublog == sublog)
                        own = Math.Min(own, file.First);
                }
                if (own != ulong.MaxValue)
                    first = Math.Max(first, own);
            }
            return (_files.Count, _files.Sum(static file => file.Bytes), first);
        }
    }

    private ulong EndOf(Entry file, int sublogs, ulong lastOfEarlierRuns)
    {
        ulong next = ulong.MaxValue;
        foreach (Entry other in _files)
        {
            if (other.Sublog == file.Sublog && other.First > file.First)
                next = Math.Min(next, other.First);
        }
        if (next != ulong.MaxValue)
            return next - 1;
        return file.Sublog < sublogs ? ulong.MaxValue : lastOfEarlierRuns;
    }
}
