using Garnet.Common;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>A block on its way from the file into a store: one per thread, its memory used again and again.</summary>
internal sealed class SnapshotBlock(SnapshotSeal? seal = null) : IDisposable
{
    /// <summary>A block is 64 KiB, or one record.</summary>
    public const uint BytesMax = Store.ValueBytesMax + Store.KeyBytesMax + 64;

    private const int RoomUsual = (64 << 10) + SnapshotLoader.SlackBytes;

    private readonly NativeBuffer _bytes = new();
    private string _name = "";
    private long _offset;
    private ulong _number;
    private int _tagBytes;
    private SnapshotBlockHeader _header;

    /// <summary>Its records.</summary>
    public Span<byte> Span => _bytes.Span(0, _header.RecordBytes);

    /// <summary>All that stands behind its header.</summary>
    public Span<byte> Content => _bytes.Span(0, _header.RecordBytes + (long)_tagBytes);

    public int Records => (int)_header.Records;

    public SnapshotBlockKind Kind => _header.Kind;

    private Span<byte> Tag => Content[(int)_header.RecordBytes..];

    /// <summary>True if this server wrote it as it stands here, in this place of this file.</summary>
    public bool IsOwn => seal?.Holds(_number, _header.Records, Span, Tag, Kind) == true;

    public void Set(string name, long offset, ulong number, SnapshotBlockHeader header, int tagBytes)
    {
        (_name, _offset, _number, _header, _tagBytes) = (name, offset, number, header, tagBytes);
        _bytes.Grow(Math.Max(RoomUsual, header.RecordBytes + (long)SnapshotLoader.SlackBytes), keep: 0); // the slack is more than a tag has
    }

    /// <summary>Refuses the file unless the checksum holds.</summary>
    public void Verify()
    {
        if (!_header.Holds(Span, Tag))
            throw new SnapshotFileException(_name, _offset, "the block's checksum does not hold");
    }

    /// <summary>Refuses the file unless the block held that many records.</summary>
    public void Expect(long records)
    {
        if (records != Records)
            throw new SnapshotFileException(_name, _offset, "the block's records are not as they must be");
    }

    public void Dispose()
    {
        _bytes.Dispose();
        seal?.Dispose();
    }
}
