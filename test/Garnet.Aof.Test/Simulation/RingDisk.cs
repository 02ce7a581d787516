using Garnet.Aof.Disk;

namespace Garnet.Aof.Test.Simulation;

/// <summary>
/// A disk whose staged files are written through rings, as the real ones are, so that what a full disk does to those is tried too. Rings
/// are files of the system's; a killed process leaves what they hold, a machine that goes down does not.
/// </summary>
internal sealed class RingDisk(IDisk inner, DiskFault fault) : IDisk, IDisposable
{
    private readonly string _rings = Directory.CreateTempSubdirectory("garnet-rings-").FullName;
    private readonly StagingPool _pool = new();
    private readonly Dictionary<string, RingFile> _open = new(StringComparer.Ordinal);
    private int _files;

    public string Path => inner.Path;
    public IReadOnlyList<string> List() => inner.List();
    public void Rename(string from, string to) => inner.Rename(from, to);
    public void Delete(string name) => inner.Delete(name);
    public void SyncDirectory() => inner.SyncDirectory();

    public IDiskFile Create(string name, long bytes, FileCaching caching)
    {
        if (caching != FileCaching.Staged || _pool.TryTake(System.IO.Path.Combine(_rings, $"{_files++}{StagingFile.Suffix}")) is not { } ring) return inner.Create(name, bytes, caching);
        try
        {
            return _open[name] = new RingFile(new StagedFile(inner.Create(name, bytes, FileCaching.Buffered), ring, _pool), fault);
        }
        catch (DiskException)
        {
            _pool.Give(ring);
            throw;
        }
    }

    public IDiskFile Open(string name) => _open.TryGetValue(name, out RingFile? file) && file.IsOpen ? new Reader(file) : inner.Open(name);

    /// <summary>The process has been killed: what it had written is in the files, as the next start would put it there.</summary>
    public void Kill()
    {
        foreach (RingFile file in _open.Values)
            if (file.IsOpen) file.Settle();
    }

    /// <summary>After all files.</summary>
    public void Dispose()
    {
        _pool.Clear();
        Directory.Delete(_rings, recursive: true);
    }

    // Bytes stand in the ring, in the file, or some here and some there.
    private sealed class Reader(RingFile file) : IDiskFile
    {
        public long Length => file.Length;
        public int Alignment => 1;

        public int Read(long offset, Span<byte> to)
        {
            int done = 0;
            while (done < to.Length && file.Read(offset + done, to[done..]) is > 0 and var got) done += got;
            return done;
        }

        public void Write(long offset, ReadOnlySpan<byte> bytes) => throw new InvalidOperationException("a file is written by one");

        public void Sync()
        {
        }

        public void SetLength(long bytes) => throw new InvalidOperationException("a file is written by one");

        public void Dispose()
        {
        }
    }

    // Says of itself that it has no tail: what a killed process leaves in it is put into the file at once (Kill).
    private sealed class RingFile(StagedFile inner, DiskFault fault) : IDiskFile
    {
        private const int DrainEvery = 3;

        private long _advancedTo;
        private int _writes;
        private bool _isStuck;

        public bool IsOpen => inner.IsOpen;
        public long Length => inner.Length;
        public int Alignment => inner.Alignment;
        public long CopyRoom => inner.CopyRoom;
        public int Read(long offset, Span<byte> to) => inner.Read(offset, to);
        public void SetLength(long bytes) => inner.SetLength(bytes);
        public void BeginSync(long from, long to) => Try(() => inner.BeginSync(from, to));
        public void Settle() => Try(inner.Settle);
        public void Sync() => Try(inner.Sync);
        public void Dispose() => inner.Dispose();

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            if (offset < _advancedTo) throw new InvalidOperationException("broken invariant: D2 a write goes on where the one before ended"); // as the file that advanced would say
            StayStuck();
            try
            {
                if (++_writes % DrainEvery == 0) inner.Settle(); // as if the ring were full
                inner.Write(offset, bytes);
            }
            catch (DiskException e) when (e.IsFull)
            {
                if (fault == DiskFault.AdvanceBeforeDrain) _advancedTo = offset + bytes.Length;
                _isStuck = true;
                throw;
            }
        }

        private void Try(Action step)
        {
            StayStuck();
            try
            {
                step();
            }
            catch (DiskException e) when (e.IsFull)
            {
                _isStuck = true;
                throw;
            }
        }

        private void StayStuck()
        {
            if (!_isStuck || fault != DiskFault.StaysFull) return;
            throw new DiskException("write", "ring", "no space left on device", isFull: true);
        }
    }
}
