namespace Garnet.Aof.Disk;

/// <summary>
/// A disk that forgets: for a log that lives in memory only, so that a server without a data directory can be followed. Files
/// are counted and hold nothing; nothing is ever read back.
/// </summary>
public sealed class NullDisk : IDisk
{
    /// <inheritdoc/>
    public string Path => "memory";

    /// <inheritdoc/>
    public IReadOnlyList<string> List() => [];

    /// <inheritdoc/>
    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => new NullFile { Length = bytes };

    /// <inheritdoc/>
    public IDiskFile Open(string name) => throw new DiskException("open", name, "nothing is kept", isFull: false);

    /// <inheritdoc/>
    public void Rename(string from, string to)
    {
    }

    /// <inheritdoc/>
    public void Delete(string name)
    {
    }

    /// <inheritdoc/>
    public void SyncDirectory()
    {
    }

    private sealed class NullFile : IDiskFile
    {
        public long Length { get; set; }

        public int Alignment => 1;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
        }

        public int Read(long offset, Span<byte> to) => 0;

        public void Sync()
        {
        }

        public void SetLength(long bytes) => Length = bytes;

        public void Dispose()
        {
        }
    }
}
