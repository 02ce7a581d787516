using Garnet.Aof.Disk;
using Garnet.Common;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Takes the blocks of a snapshot that a peer sends: checks each, loads it into an empty store or beside what is shown, and writes it to a file if there
/// is a disk. The peer is not believed a single byte. The store is of use only after <see cref="End"/> has found no fault.
/// </summary>
public sealed class SnapshotInlet : IDisposable
{
    /// <summary>Longest block that is believed.</summary>
    public const int BytesMax = (int)SnapshotBlock.BytesMax + SnapshotBlockHeader.Bytes;

    private readonly Store _store;
    private readonly SnapshotLoader _loader;
    private readonly SnapshotWriter? _writer;
    private readonly SnapshotFileFacts _facts;
    private readonly NativeBuffer _block = new();
    private ulong _blocks, _records, _recordBytes;
    private uint _blocksCrc;

    /// <summary>
    /// Begins; the store's log is off and its expiry paused. <paramref name="disk"/>: null = nothing is written. <paramref name="staged"/>:
    /// null = the store is empty, and loaded itself.
    /// </summary>
    public SnapshotInlet(Store store, IDisk? disk, in SnapshotFileFacts facts, StagedNamespaces? staged = null)
    {
        _facts = facts;
        _store = store;
        _loader = new SnapshotLoader(store, staged);
        try
        {
            _writer = disk is null ? null : new SnapshotWriter(disk, facts);
        }
        catch
        {
            _loader.Dispose();
            throw;
        }
    }

    /// <summary>True if the last block failed because the store has no room for it: it may be given again.</summary>
    public bool IsOutOfMemory { get; private set; }

    /// <summary>Bytes of records so far.</summary>
    public long Bytes => (long)_recordBytes;

    /// <summary>Blocks so far.</summary>
    public ulong Blocks => Volatile.Read(ref _blocks);

    /// <summary>Records so far.</summary>
    public long Records => (long)_records;

    /// <summary>Takes a block with its header; null if it is sound and loaded, else what is wrong.</summary>
    public string? Block(ReadOnlySpan<byte> bytes)
    {
        if (!SnapshotBlockHeader.TryRead(bytes, out SnapshotBlockHeader header) || header.Kind != SnapshotBlockKind.Records)
            return "neither a block nor a footer of a snapshot";
        ReadOnlySpan<byte> records = bytes[SnapshotBlockHeader.Bytes..];
        if (records.Length != header.RecordBytes || records.Length > SnapshotBlock.BytesMax)
            return "a block of the snapshot has another length than its header says";
        if (!header.Holds(records))
            return "the checksum of a snapshot's block does not hold";
        _block.Grow((long)records.Length + SnapshotLoader.SlackBytes, keep: 0);
        Span<byte> own = _block.Span(0, records.Length);
        records.CopyTo(own);
        long before = _loader.Records;
        LoadOutcome outcome = _loader.Load(own);
        IsOutOfMemory = outcome == LoadOutcome.OutOfMemory;
        if (IsOutOfMemory)
            return "the primary's data do not fit into memory: raise maxmemory";
        if (outcome == LoadOutcome.Damaged || _loader.Records - before != header.Records)
            return "the records of a snapshot's block are not as they must be";
        _writer?.Write(records, (int)header.Records);
        _blocksCrc = SnapshotFooter.Chain(_blocksCrc, header.Crc);
        _blocks++;
        _records += header.Records;
        _recordBytes += header.RecordBytes;
        return null;
    }

    /// <summary>Takes the footer; null if all blocks have come. The file, if one is written, is durable under its temporary name then.</summary>
    public string? End(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length != SnapshotFooter.Bytes || !SnapshotFooter.TryRead(bytes, out SnapshotFooter footer))
            return "the snapshot's footer is not whole";
        if (footer != new SnapshotFooter(_blocks, _records, _recordBytes, _facts.Batch, _blocksCrc))
            return "the footer's totals are not those of the snapshot";
        if (LoadedValues.Judge(_store) is { } fault)
            return $"the snapshot's values cannot be believed: {fault}";
        _writer?.Finish();
        return null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _loader.Dispose();
        _writer?.Dispose();
        _block.Dispose();
    }
}
