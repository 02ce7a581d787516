using Garnet.Aof.Format;
using Garnet.Aof.Lanes;

namespace Garnet.Aof.Writing;

/// <summary>
/// A sublog's part of a closed batch on its way to the file: the lanes' chunks, nothing copied yet. Used again and again.
/// </summary>
internal sealed unsafe class SealedPart
{
    private LaneTake[] _rows = new LaneTake[64];

    public ulong Batch { get; private set; }
    public BatchKind Kind { get; private set; }
    public long SealedUnixUs { get; private set; }
    public long EntryBytes { get; private set; }
    public uint Entries { get; private set; }
    public int RowCount { get; private set; }

    /// <summary>Bytes in the file: header, lane table, entries.</summary>
    public long Bytes => BatchHeader.Bytes + BodyBytes;
    public long BodyBytes => (long)RowCount * LaneRow.Bytes + EntryBytes;
    public ReadOnlySpan<LaneTake> Rows => _rows.AsSpan(0, RowCount);

    /// <summary>Begins with no rows.</summary>
    public void Reset(ulong batch, BatchKind kind, long sealedUnixUs)
    {
        Batch = batch;
        Kind = kind;
        SealedUnixUs = sealedUnixUs;
        EntryBytes = 0;
        Entries = 0;
        RowCount = 0;
    }

    public void Add(in LaneTake take)
    {
        if (RowCount == _rows.Length) Array.Resize(ref _rows, _rows.Length * 2);
        _rows[RowCount++] = take;
        EntryBytes += take.Bytes;
        Entries += take.Entries;
    }

    /// <summary>Gives all memory back unwritten.</summary>
    public void Drop(ChunkPool pool)
    {
        foreach (ref readonly LaneTake take in Rows) pool.Give(take.Head);
        RowCount = 0;
    }
}
