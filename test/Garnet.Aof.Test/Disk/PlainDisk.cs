using Garnet.Aof.Disk;
using Microsoft.Win32.SafeHandles;

namespace Garnet.Aof.Test.Disk;

/// <summary>Files of a directory as they are, through the page cache; for golden directories and measurements.</summary>
internal sealed class PlainDisk(string path) : IDisk
{
    public string Path => path;
    public IReadOnlyList<string> List() =>
        [.. Directory.GetFiles(path).Select(static file => System.IO.Path.GetFileName(file)).Order(StringComparer.Ordinal)];
    public IDiskFile Open(string name) => new Handle(File.OpenHandle(Full(name), FileMode.Open, FileAccess.ReadWrite));
    public void Rename(string from, string to) => File.Move(Full(from), Full(to), true);
    public void Delete(string name) => File.Delete(Full(name));
    public void SyncDirectory() { }

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        SafeFileHandle file = File.OpenHandle(Full(name), FileMode.CreateNew, FileAccess.ReadWrite);
        RandomAccess.SetLength(file, bytes);
        return new Handle(file);
    }

    private string Full(string name) => System.IO.Path.Combine(path, name);

    private sealed class Handle(SafeFileHandle file) : IDiskFile
    {
        public long Length => RandomAccess.GetLength(file);
        public int Alignment => 1;
        public void Write(long offset, ReadOnlySpan<byte> bytes) => RandomAccess.Write(file, bytes, offset);
        public int Read(long offset, Span<byte> to) => RandomAccess.Read(file, to, offset);
        public void Sync() { }
        public void SetLength(long bytes) => RandomAccess.SetLength(file, bytes);
        public void Dispose() => file.Dispose();
    }
}
