using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Goes through a snapshot file from block to block; several threads may take turns. Every number is checked against the file
/// before memory is taken for it: a length never asks for more than the file holds.
/// </summary>
internal sealed class SnapshotBlocks : IDisposable
{
    private readonly IDiskFile _file;
    private readonly string _name;
    private readonly Lock _turn = new();
    private readonly long _length;
    private readonly byte[] _head = new byte[SnapshotFooter.Bytes];
    private long _offset = SnapshotFileHeader.Bytes;
    private ulong _blocks, _records, _recordBytes, _references, _segments;
    private readonly DirectoryKey? _key;
    private readonly byte[]? _salt;
    private uint _blocksCrc;
    private bool _ended;
    private volatile bool _isGivenUp;

    /// <summary>Opens the file and reads its header, or refuses it. <paramref name="key"/>: with which its blocks may be known for our own.</summary>
    public SnapshotBlocks(IDisk disk, string name, DirectoryKey? key = null)
    {
        _name = name;
        _file = disk.Open(name);
        try
        {
            _length = _file.Length;
            byte[] header = new byte[SnapshotFileHeader.Bytes];
            ReadWhole(0, header, "the header is cut off");
            Facts = SnapshotFileHeader.Read(header, name) with { FileBytes = _length };
            if (SnapshotFileName.TryParse(name, out ulong batch) && batch != Facts.Batch)
                throw new SnapshotFileException(name, 16, $"the header names batch {Facts.Batch}");
            if (key is null || !Facts.IsSealed || SnapshotFileHeader.SaltOf(header, key) is not { } salt)
                return;
            (_key, _salt) = (key, salt);
            key.Prove();
        }
        catch
        {
            _file.Dispose();
            throw;
        }
    }

    /// <summary>The header's facts, and the footer's once the end was reached.</summary>
    public SnapshotFileFacts Facts { get; private set; }

    /// <summary>True once the end was reached and footer and header are our own: no block is missing, and none is doubled.</summary>
    public bool EndIsOwn { get; private set; }

    private int TagBytes => Facts.IsSealed ? SnapshotSeal.TagBytes : 0;

    /// <summary>A place for the blocks of one thread.</summary>
    public SnapshotBlock NewBlock() => new(_key?.Seal(_salt));

    /// <summary>
    /// Reads the next block as it stands; false at the end, if footer and totals hold. The caller checks the checksum. <paramref name="kind"/>: others are passed over.
    /// </summary>
    public bool Next(SnapshotBlock into, SnapshotBlockKind? kind = null)
    {
        lock (_turn)
        {
            while (NextOfAny(into, kind) is { } found)
            {
                if (kind is null || found == kind)
                    return true;
            }
            return false;
        }
    }

    /// <summary>Nobody needs the blocks that are left.</summary>
    public void GiveUp() => _isGivenUp = true;

    public void Dispose() => _file.Dispose();

    private SnapshotBlockKind? NextOfAny(SnapshotBlock into, SnapshotBlockKind? kind)
    {
        if (_ended || _isGivenUp)
            return null;
        Span<byte> head = _head.AsSpan(0, SnapshotBlockHeader.Bytes);
        ReadWhole(_offset, head, "the footer is missing");
        if (!SnapshotBlockHeader.TryRead(head, out SnapshotBlockHeader header))
        {
            End();
            return null;
        }
        if (header.Kind != SnapshotBlockKind.Records && !Facts.NamesSegments)
            throw new SnapshotFileException(_name, _offset, "it names segments of a tier, and its header says that it does not");
        long start = _offset + SnapshotBlockHeader.Bytes;
        if (header.RecordBytes > _length - SnapshotFooter.Bytes - TagBytes - start || header.RecordBytes > SnapshotBlock.BytesMax)
            throw new SnapshotFileException(_name, _offset, $"a block of {header.RecordBytes} bytes cannot be");
        if (kind is null || header.Kind == kind)
        {
            into.Set(_name, _offset, _blocks, header, TagBytes);
            ReadWhole(start, into.Content, "the block is cut off");
        }
        _blocksCrc = SnapshotFooter.Chain(_blocksCrc, header.Crc);
        _blocks++;
        _records += header.Kind == SnapshotBlockKind.Segments ? 0 : header.Records;
        _references += header.Kind == SnapshotBlockKind.References ? header.Records : 0;
        _segments += header.Kind == SnapshotBlockKind.Segments ? header.Records : 0;
        _recordBytes += header.RecordBytes;
        _offset = start + header.RecordBytes + TagBytes;
        return header.Kind;
    }

    private void End()
    {
        ReadWhole(_offset, _head, "the footer is cut off");
        if (!SnapshotFooter.TryRead(_head, out SnapshotFooter footer))
            throw new SnapshotFileException(_name, _offset, "neither a block nor a footer");
        if (footer != new SnapshotFooter(_blocks, _records, _recordBytes, Facts.Batch, _blocksCrc, Facts.IsSealed ? footer.Tag : default))
            throw new SnapshotFileException(_name, _offset, "the footer's totals are not those of the file");
        CheckEnd(_offset + SnapshotFooter.Bytes);
        Facts = Facts with { Blocks = _blocks, Records = _records, RecordBytes = _recordBytes };
        Facts = Facts with { References = _references, Segments = _segments };
        using SnapshotSeal? seal = _key?.Seal(_salt);
        EndIsOwn = seal is not null && footer.IsOwn(seal);
        _ended = true;
    }

    private void CheckEnd(long offset)
    {
        long end = (offset + SnapshotFooter.FileMultiple - 1) / SnapshotFooter.FileMultiple * SnapshotFooter.FileMultiple;
        if (_length != end)
            throw new SnapshotFileException(_name, offset, $"the file has {_length} bytes instead of {end}");
        byte[] zeros = new byte[end - offset];
        ReadWhole(offset, zeros, "the end is cut off");
        if (zeros.AsSpan().ContainsAnyExcept((byte)0))
            throw new SnapshotFileException(_name, offset, "bytes that must be zero are not");
    }

    private void ReadWhole(long offset, Span<byte> to, string otherwise)
    {
        if (_file.Read(offset, to) != to.Length)
            throw new SnapshotFileException(_name, offset, otherwise);
    }
}
