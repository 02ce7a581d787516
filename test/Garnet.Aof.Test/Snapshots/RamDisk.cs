using Garnet.Aof.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>A disk of byte arrays that insists on alignment, counts syncs and can be told to fill up.</summary>
internal sealed class RamDisk : IDisk
{
    private readonly SortedDictionary<string, byte[]> _files = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();

    public string Path => "ram";
    public int Alignment { get; init; } = 4096;
    public long BytesMax { get; init; } = long.MaxValue;
    public int Syncs { get; private set; }

    public byte[] this[string name]
    {
        get
        {
            lock (_gate) return _files[name];
        }
        set
        {
            lock (_gate) _files[name] = value;
        }
    }

    public IReadOnlyList<string> List() => [.. _files.Keys];

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        if (!_files.TryAdd(name, new byte[bytes])) throw new DiskException("create", name, "it exists", false);
        return new RamFile(this, name);
    }

    public IDiskFile Open(string name) =>
        _files.ContainsKey(name) ? new RamFile(this, name) : throw new DiskException("open", name, "there is none", false);

    public void Rename(string from, string to)
    {
        _files[to] = _files[from];
        _files.Remove(from);
    }

    public void Delete(string name) => _files.Remove(name);

    public void SyncDirectory() => Syncs++;

    private sealed unsafe class RamFile(RamDisk disk, string name) : IDiskFile
    {
        public long Length => disk[name].Length;
        public int Alignment => disk.Alignment;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            fixed (byte* start = bytes)
                Assert.That((offset % Alignment) + (bytes.Length % Alignment) + ((nint)start % Alignment), Is.Zero, "an aligned write");
            if (offset + bytes.Length > disk.BytesMax) throw new DiskException("write", name, "no space", true);
            if (offset + bytes.Length > Length) SetLength(offset + bytes.Length);
            bytes.CopyTo(disk[name].AsSpan((int)offset));
        }

        public int Read(long offset, Span<byte> to)
        {
            ReadOnlySpan<byte> file = disk[name];
            if (offset >= file.Length) return 0;
            file = file[(int)offset..];
            int bytes = Math.Min(file.Length, to.Length);
            file[..bytes].CopyTo(to);
            return bytes;
        }

        public void Sync() => disk.Syncs++;

        public void SetLength(long bytes)
        {
            byte[] file = disk[name];
            Array.Resize(ref file, (int)bytes);
            disk[name] = file;
        }

        public void Dispose()
        {
        }
    }
}
