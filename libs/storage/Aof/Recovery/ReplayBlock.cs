using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;

namespace Garnet.Aof.Recovery;

/// <summary>
/// A run of batches on its way to the workers: a copy of the entries, so that the reader may go on, and a list of whose they are.
/// </summary>
internal sealed unsafe class ReplayBlock : IDisposable
{
    /// <summary>A block that holds as much is handed over.</summary>
    public const int BytesEnough = 1 << 20;
    private const long KeptBytesMax = 4 * BytesEnough;

    private readonly NativeBuffer _bytes = new();
    private readonly List<ReplaySlice> _slices = [];
    private long _used;

    public List<ReplaySlice> Slices => _slices;
    public bool IsFull => _used >= BytesEnough;
    public long Entries { get; private set; }

    public byte* At(in ReplaySlice slice) => _bytes.Bytes + slice.Offset;

    public void Clear()
    {
        _slices.Clear();
        _used = 0;
        Entries = 0;
        if (_bytes.Capacity > KeptBytesMax)
            _bytes.Dispose();
    }

    public void Add(in LogPart part)
    {
        long table = (long)part.Header.Lanes * LaneRow.Bytes, bytes = part.Header.BodyBytes - table;
        if (_used + bytes > _bytes.Capacity)
            _bytes.Grow(Math.Max(BytesEnough + (BytesEnough >> 2), _used + bytes), _used);
        Entries += part.Header.Entries;
        Buffer.MemoryCopy(part.Body + table, _bytes.Bytes + _used, bytes, bytes);
        for (int i = 0; i < part.Header.Lanes; i++)
        {
            LaneRow row = part.Row(i);
            _slices.Add(new ReplaySlice
            {
                Lane = row.Lane, Entries = row.Entries, Offset = _used, Bytes = (int)row.EntryBytes,
                Batch = part.Header.Batch, IsOrdered = part.Header.Kind == BatchKind.Ordered, File = part.File, FileOffset = part.Offset,
            });
            _used += row.EntryBytes;
        }
    }

    public void Dispose() => _bytes.Dispose();
}
