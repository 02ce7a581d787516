using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Test.Simulation;

/// <summary>A disk, or somebody in front of it, that breaks one rule.</summary>
internal sealed class FaultyDisk(IDisk inner, DiskFault fault) : IDisk
{
    public string Path => inner.Path;
    public IReadOnlyList<string> List() => inner.List();
    public IDiskFile Create(string name, long bytes, FileCaching caching) => Faulty(name, inner.Create(name, bytes, caching));
    public IDiskFile Open(string name) => inner.Open(name);
    public void Rename(string from, string to) => inner.Rename(from, to);
    public void Delete(string name) => inner.Delete(name);
    public IReadOnlyList<string> Complete() => inner.Complete();
    public void Expect(int files) => inner.Expect(files);

    public void SyncDirectory()
    {
        if (fault != DiskFault.NamesNeverSynced) inner.SyncDirectory();
    }

    private IDiskFile Faulty(string name, IDiskFile file) => fault switch
    {
        DiskFault.UnsyncedSnapshot when SnapshotFileName.IsUnfinished(name) => new FaultyFile(file, fault),
        DiskFault.SyncOnce or DiskFault.BodyAfterSync when LogFileName.TryParse(name, out _, out _) => new FaultyFile(file, fault),
        _ => file,
    };

    private sealed class FaultyFile(IDiskFile inner, DiskFault fault) : IDiskFile
    {
        private const int SectorBytes = 512;
        private readonly List<(long Offset, byte[] Bytes)> _late = [];
        private int _syncs;

        public long Length => inner.Length;
        public int Alignment => inner.Alignment;
        public int Read(long offset, Span<byte> to) => inner.Read(offset, to);
        public void SetLength(long bytes) => inner.SetLength(bytes);
        public void Dispose() => inner.Dispose();

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            if (fault != DiskFault.BodyAfterSync || offset == 0)
            {
                inner.Write(offset, bytes);
                return;
            }
            byte[] early = new byte[Alignment > 1 ? Alignment : BatchHeader.Bytes];
            bytes[..Math.Min(SectorBytes, early.Length)].CopyTo(early);
            inner.Write(offset, early);
            _late.Add((offset, bytes.ToArray()));
        }

        public void Sync()
        {
            if (fault == DiskFault.UnsyncedSnapshot || (fault == DiskFault.SyncOnce && _syncs++ > 0)) return;
            inner.Sync();
            foreach ((long offset, byte[] bytes) in _late) inner.Write(offset, bytes);
            _late.Clear();
        }
    }
}
