using Garnet.Common;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Writes a snapshot file under its temporary name: header, blocks as they come, footer. Format:
/// website/docs/format/snapshot.md. Writes are large and aligned to 4,096 bytes. Part of log.M1: data write, data sync
/// (<see cref="Finish"/>); the caller then renames (<see cref="Publish"/>), syncs the directory, names the file in its manifest
/// and only then frees what the snapshot replaces. Not thread-safe. Failures of the disk throw <see cref="DiskException"/>.
/// </summary>
public sealed unsafe class SnapshotWriter : INamingSink, IDisposable
{
    private const int BufferBytes = 1 << 20, AlignmentMax = 4096;
    private readonly IDisk _disk;
    private readonly IDiskFile _file;
    private readonly SnapshotFileFacts _facts;
    private readonly SnapshotSeal? _seal;
    private readonly NativeArray<byte> _memory;
    private byte* _buffer;
    private int _used;
    private long _written;
    private ulong _blocks, _records, _recordBytes;
    private uint _blocksCrc;
    private bool _finished;

    /// <summary>
    /// Creates the file; one left behind under the same temporary name is deleted. <paramref name="key"/>: that of the directory, for records
    /// that this server's own store hands out; what comes from elsewhere is never sealed.
    /// </summary>
    public SnapshotWriter(IDisk disk, in SnapshotFileFacts facts, DirectoryKey? key = null)
    {
        ArgumentNullException.ThrowIfNull(disk);
        _disk = disk;
        _facts = facts with { IsSealed = key is not null };
        _seal = key?.Seal(SnapshotSeal.NewSalt());
        string name = TemporaryName(facts);
        if (disk.List().Contains(name))
            disk.Delete(name);
        _file = disk.Create(name, 0);
        _memory = new NativeArray<byte>(BufferBytes, AlignmentMax);
        _buffer = _memory.Items;
        SnapshotFileHeader.Write(new Span<byte>(_buffer, BufferBytes), facts, _seal);
        _used = SnapshotFileHeader.Bytes;
    }

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> block, int records) => Write(block, records, SnapshotBlockKind.Records);

    /// <inheritdoc/>
    public void WriteReferences(ReadOnlySpan<byte> block, int references) => Write(block, references, SnapshotBlockKind.References);

    /// <inheritdoc/>
    public void WriteSegments(ReadOnlySpan<byte> block, int segments) => Write(block, segments, SnapshotBlockKind.Segments);

    /// <summary>Writes the footer and syncs: the file is whole and durable under its temporary name once this returns.</summary>
    public SnapshotFileFacts Finish()
    {
        Span<byte> footer = stackalloc byte[SnapshotFooter.Bytes];
        SnapshotFooter totals = new(_blocks, _records, _recordBytes, _facts.Batch, _blocksCrc);
        (_seal is null ? totals : totals.With(_seal)).Write(footer);
        Put(footer);
        int padded = (_used + SnapshotFooter.FileMultiple - 1) / SnapshotFooter.FileMultiple * SnapshotFooter.FileMultiple;
        new Span<byte>(_buffer + _used, padded - _used).Clear();
        _used = padded;
        WriteOut();
        _file.Sync();
        _finished = true;
        return _facts with { Blocks = _blocks, Records = _records, RecordBytes = _recordBytes, FileBytes = _written };
    }

    /// <summary>Gives a finished file its name; durable after <see cref="IDisk.SyncDirectory"/>.</summary>
    public static void Publish(IDisk disk, in SnapshotFileFacts facts)
    {
        ArgumentNullException.ThrowIfNull(disk);
        disk.Rename(TemporaryName(facts), facts.Name);
    }

    /// <summary>Closes the file; deletes it if it was not finished.</summary>
    public void Dispose()
    {
        if (_buffer == null)
            return;
        _memory.Dispose();
        _buffer = null;
        _seal?.Dispose();
        _file.Dispose();
        if (!_finished)
            Discard();
    }

    private void Write(ReadOnlySpan<byte> block, int records, SnapshotBlockKind kind)
    {
        Span<byte> header = stackalloc byte[SnapshotBlockHeader.Bytes], tag = stackalloc byte[SnapshotSeal.TagBytes];
        if (_seal is null)
            tag = [];
        else
            _seal.Tag(_blocks, (uint)records, block, tag, kind);
        _blocksCrc = SnapshotFooter.Chain(_blocksCrc, SnapshotBlockHeader.Write(header, block, records, tag, kind));
        Put(header);
        Put(block);
        Put(tag);
        _blocks++;
        _records += kind == SnapshotBlockKind.Segments ? 0 : (ulong)records;
        _recordBytes += (ulong)block.Length;
    }

    private static string TemporaryName(in SnapshotFileFacts facts) => facts.Name + SnapshotFileName.UnfinishedSuffix;

    // Whatever brought us here is what the caller must hear of; a file left behind is deleted by the next writer or start.
    private void Discard()
    {
        try
        {
            _disk.Delete(TemporaryName(_facts));
        }
        catch (DiskException)
        {
            // Its name says that it counts for nothing.
        }
    }

    private void Put(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            int part = Math.Min(bytes.Length, BufferBytes - _used);
            bytes[..part].CopyTo(new Span<byte>(_buffer + _used, part));
            _used += part;
            bytes = bytes[part..];
            if (_used == BufferBytes)
                WriteOut();
        }
    }

    private void WriteOut()
    {
        if (_used == 0)
            return;
        _file.Write(_written, new ReadOnlySpan<byte>(_buffer, _used));
        _written += _used;
        _used = 0;
    }
}
