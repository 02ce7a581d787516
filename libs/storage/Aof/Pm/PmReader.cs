using Garnet.Aof.Disk;

namespace Garnet.Aof.Pm;

/// <summary>Reads a file that this process is just writing through a <see cref="PmFile"/>: what is asked for and not in the file yet comes there first.</summary>
internal sealed class PmReader(PmFile written, IDiskFile file) : IDiskFile
{
    /// <inheritdoc/>
    public long Length => file.Length;

    /// <inheritdoc/>
    public int Alignment => 1;

    /// <inheritdoc/>
    public int Read(long offset, Span<byte> to)
    {
        written.BringUpTo(offset + to.Length);
        return file.Read(offset, to);
    }

    /// <inheritdoc/>
    public void Write(long offset, ReadOnlySpan<byte> bytes) => throw ReadOnly();

    /// <inheritdoc/>
    public void Sync() => throw ReadOnly();

    /// <inheritdoc/>
    public void SetLength(long bytes) => throw ReadOnly();

    /// <inheritdoc/>
    public void Dispose() => file.Dispose();

    private static NotSupportedException ReadOnly() => new("the file has a writer already");
}
