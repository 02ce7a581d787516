namespace Garnet.Aof.Snapshots;

/// <summary>Takes the blocks of a snapshot that is sent rather than written to a file.</summary>
public interface ISnapshotStream
{
    /// <summary>A block as it would stand in a file: its header, and the records behind it.</summary>
    void Block(ReadOnlySpan<byte> header, ReadOnlySpan<byte> records);
}
