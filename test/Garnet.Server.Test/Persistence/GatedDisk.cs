using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Persistence;

/// <summary>A simulated disk for the threads of a server, which syncs no file while it is held.</summary>
internal sealed class GatedDisk : IDisk, IDisposable
{
    private readonly SimulatedDisk _disk = new();
    private readonly Lock _gate = new();
    private readonly ManualResetEventSlim _syncs = new(true), _snapshots = new(true);

    public string Path => _disk.Path;

    public void Hold() => _syncs.Reset();

    /// <summary>Nothing is written to files of snapshots, which whoever takes one waits for.</summary>
    public void HoldSnapshots() => _snapshots.Reset();

    public void Release()
    {
        _syncs.Set();
        _snapshots.Set();
    }

    /// <summary>The disk as it is found if the power goes now: without anything that was not synced.</summary>
    public SimulatedDisk Crash()
    {
        lock (_gate) return _disk.Crash(0);
    }

    public IReadOnlyList<string> List()
    {
        lock (_gate) return _disk.List();
    }

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        lock (_gate) return new File(this, _disk.Create(name, bytes, caching), SnapshotFileName.IsUnfinished(name));
    }

    public IDiskFile Open(string name)
    {
        lock (_gate) return new File(this, _disk.Open(name), isSnapshot: false);
    }

    public void Rename(string from, string to)
    {
        lock (_gate) _disk.Rename(from, to);
    }

    public void Delete(string name)
    {
        lock (_gate) _disk.Delete(name);
    }

    public void SyncDirectory()
    {
        lock (_gate) _disk.SyncDirectory();
    }

    public void Dispose()
    {
        _syncs.Dispose();
        _snapshots.Dispose();
    }

    private sealed class File(GatedDisk owner, IDiskFile file, bool isSnapshot) : IDiskFile
    {
        public long Length
        {
            get
            {
                lock (owner._gate) return file.Length;
            }
        }

        public int Alignment => file.Alignment;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            if (isSnapshot) owner._snapshots.Await();
            lock (owner._gate) file.Write(offset, bytes);
        }

        public int Read(long offset, Span<byte> to)
        {
            lock (owner._gate) return file.Read(offset, to);
        }

        public void Sync()
        {
            owner._syncs.Await();
            lock (owner._gate) file.Sync();
        }

        public void SetLength(long bytes)
        {
            lock (owner._gate) file.SetLength(bytes);
        }

        public void Dispose() => file.Dispose();
    }
}
