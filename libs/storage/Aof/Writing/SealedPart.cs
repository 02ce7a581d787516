using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Aof.Shipping;
using Garnet.Common.Faults;

namespace Garnet.Aof.Writing;

/// <summary>
/// A sublog's part of a closed batch on its way to the file: the lanes' chunks, nothing copied yet. Used again and again.
/// </summary>
internal sealed unsafe class SealedPart
{
    private LaneTake[] _rows = new LaneTake[64];
    private BatchBytes? _received;
    private int _part;

    public ulong Batch { get; private set; }
    public BatchKind Kind { get; private set; }
    public long SealedUnixUs { get; private set; }
    public long EntryBytes { get; private set; }
    public uint Entries { get; private set; }
    public int RowCount { get; private set; }

    /// <summary>Bytes in the file: header, lane table, entries.</summary>
    public long Bytes => _received is null ? BatchHeader.Bytes + BodyBytes : Received.Length;
    public long BodyBytes => (long)RowCount * LaneRow.Bytes + EntryBytes;
    public ReadOnlySpan<LaneTake> Rows => _rows.AsSpan(0, RowCount);

    /// <summary>The batch that came whole from a primary; null for one of our own.</summary>
    public BatchBytes? Whole => _received;
    /// <summary>The part of <see cref="Whole"/>, as it is to stand in the file.</summary>
    public ReadOnlySpan<byte> Received => _received!.Part(_part);
    /// <summary>Term of <see cref="Whole"/>.</summary>
    public uint Term => _received!.Term;

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

    /// <summary>Becomes a part of a batch that was received; holds the batch until it is let go.</summary>
    public void Reset(BatchBytes batch, int part)
    {
        Reset(batch.Batch, batch.Kind, (long)batch.SealedUnixUs);
        batch.Hold();
        (_received, _part) = (batch, part);
    }

    /// <summary>What was received has been laid out, or is dropped.</summary>
    public void LetGo()
    {
        _received?.Release();
        _received = null;
    }

    public void Add(in LaneTake take)
    {
        if (RowCount == _rows.Length)
            Array.Resize(ref _rows, _rows.Length * 2);
        _rows[RowCount++] = take;
        EntryBytes += take.Bytes;
        Check.That(BodyBytes <= LogLimits.PartBodyBytesMax - LaneRow.Bytes, "log.L5 a part is no longer than readers take");
        Entries += take.Entries;
    }

    /// <summary>Gives all memory back unwritten.</summary>
    public void Drop(ChunkPool pool)
    {
        foreach (ref readonly LaneTake take in Rows) pool.Give(take.Head);
        RowCount = 0;
        if (_received != null)
            pool.Account(-Bytes);
        LetGo();
    }
}
