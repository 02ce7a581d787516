using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>A block on its way from the file into a store: one per thread, its memory used again and again.</summary>
internal sealed class SnapshotBlock
{
    /// <summary>A block is 64 KiB, or one record.</summary>
    public const uint BytesMax = Store.ValueBytesMax + Store.KeyBytesMax + 64;

    private byte[] _bytes = new byte[(64 << 10) + SnapshotLoader.SlackBytes];
    private string _name = "";
    private long _offset;
    private SnapshotBlockHeader _header;

    public Span<byte> Span => _bytes.AsSpan(0, (int)_header.RecordBytes);

    public int Records => (int)_header.Records;

    public void Set(string name, long offset, SnapshotBlockHeader header)
    {
        (_name, _offset, _header) = (name, offset, header);
        int room = (int)header.RecordBytes + SnapshotLoader.SlackBytes;
        if (_bytes.Length < room) _bytes = new byte[room];
    }

    /// <summary>Refuses the file unless the checksum holds.</summary>
    public void Verify()
    {
        if (!_header.Holds(Span)) throw new SnapshotFileException(_name, _offset, "the block's checksum does not hold");
    }

    /// <summary>Refuses the file unless the block held that many records.</summary>
    public void Expect(long records)
    {
        if (records != Records) throw new SnapshotFileException(_name, _offset, "the block's records are not as they must be");
    }
}
