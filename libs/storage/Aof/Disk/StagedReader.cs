namespace Garnet.Aof.Disk;

/// <summary>Reads a file that this process is just writing through a <see cref="StagedFile"/>: what is not in the file yet comes from there.</summary>
internal sealed class StagedReader(StagedFile staged, LinuxFile file) : IDiskFile
{
    /// <inheritdoc/>
    public long Length => file.Length;

    /// <inheritdoc/>
    public int Alignment => 1;

    /// <inheritdoc/>
    public int Read(long offset, Span<byte> to)
    {
        int done = 0;
        while (done < to.Length)
        {
            int read = staged.Copy(offset + done, to[done..], out long inFile);
            if (read == 0)
                read = file.Read(offset + done, to.Slice(done, (int)Math.Min(to.Length - done, inFile - offset - done)));
            if (read == 0)
                break;
            done += read;
        }
        return done;
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
