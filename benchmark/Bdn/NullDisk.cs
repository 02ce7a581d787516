using Garnet.Aof.Disk;

namespace Garnet.Bdn;

/// <summary>A disk that takes everything at once and keeps nothing: what is measured is the log alone.</summary>
internal sealed class NullDisk : IDisk
{
    public string Path => "null";

    public IReadOnlyList<string> List() => [];

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => new NullFile(bytes);

    public IDiskFile Open(string name) => new NullFile(0);

    public void Rename(string from, string to)
    {
    }

    public void Delete(string name)
    {
    }

    public void SyncDirectory()
    {
    }

    private sealed class NullFile(long bytes) : IDiskFile
    {
        public long Length => bytes;
        public int Alignment => 4096;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
        }

        public int Read(long offset, Span<byte> to) => 0;

        public void Sync()
        {
        }

        public void SetLength(long bytes)
        {
        }

        public void Dispose()
        {
        }
    }
}
