using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Makes of what a store's snapshot hands out the blocks of a snapshot file, for a stream instead of a disk, and keeps the
/// totals for the footer. Format: website/docs/format/snapshot.md.
/// </summary>
public sealed class SnapshotOutlet(ISnapshotStream stream, ulong batch) : ISnapshotSink
{
    private ulong _blocks, _records, _recordBytes;
    private uint _blocksCrc;

    /// <summary>Bytes of records so far.</summary>
    public long Bytes => (long)_recordBytes;

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> block, int records)
    {
        Span<byte> header = stackalloc byte[SnapshotBlockHeader.Bytes];
        _blocksCrc = SnapshotFooter.Chain(_blocksCrc, SnapshotBlockHeader.Write(header, block, records));
        stream.Block(header, block);
        _blocks++;
        _records += (ulong)records;
        _recordBytes += (ulong)block.Length;
    }

    /// <summary>The footer: the snapshot is whole.</summary>
    public byte[] Footer()
    {
        byte[] footer = new byte[SnapshotFooter.Bytes];
        new SnapshotFooter(_blocks, _records, _recordBytes, batch, _blocksCrc).Write(footer);
        return footer;
    }
}
