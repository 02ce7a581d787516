namespace Garnet.Aof.Disk;

/// <summary>
/// Rings of files that are written no more, for files to come: to create one and to touch each of its pages takes 2 ms of a processor.
/// </summary>
internal sealed class StagingPool
{
    private readonly Stack<StagingFile> _free = new();

    /// <summary>A ring of that name in which nothing is; null where there can be none. Throws <see cref="DiskException"/>.</summary>
    public StagingFile? TryTake(string path)
    {
        StagingFile? ring;
        lock (_free)
        {
            if (!_free.TryPop(out ring))
                return StagingFile.TryCreate(path);
        }
        ring.MoveTo(path);
        return ring;
    }

    /// <summary>Takes a ring back: all that was written into it is in its file.</summary>
    public void Give(StagingFile ring)
    {
        lock (_free) _free.Push(ring);
    }

    /// <summary>Deletes what is not in use.</summary>
    public void Clear()
    {
        lock (_free)
        {
            while (_free.TryPop(out StagingFile? ring)) ring.Delete();
        }
    }
}
