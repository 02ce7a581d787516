using System.Runtime.InteropServices;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Aof.Shipping;
using Garnet.Media;

namespace Garnet.Aof.Writing;

/// <summary>
/// Puts a sublog's parts into its files: lays them out in a buffer, writes the buffer, goes on to the next file. One thread.
/// log.W1: no write changes what an earlier one wrote. Past the system's cache each begins at a multiple of 4,096 and is padded to
/// one; through the cache at a multiple of 64, and what else is in the page is written again as it was.
/// log.W2: a call that failed because the disk is full may be repeated and does the same again, at the same place.
/// log.W3: a file is synced before its successor exists; header and name of the successor are durable before a batch is in it.
/// log.W9: a part received from a primary is written as it is, chain and all.
/// log.W11: received parts say nothing of this disk: a <see cref="DurableProof"/> stands in front of a part, never first in a file, once more
/// is durable than the last one says; and behind the last part when the log rests or ends. A file leaves room for that.
/// Failures are <see cref="DiskException"/>s.
/// </summary>
internal sealed unsafe class SegmentWriter : IDisposable
{
    private const int WriteAlignment = 4096, PartAlignment = BatchHeader.Bytes, BufferBytes = 1 << 20, BufferBytesKept = 8 << 20;
    private const int BeginSyncBytes = 512 << 10, ZeroAheadBytes = 1 << 20;

    private readonly IDisk _disk;
    private readonly SegmentList _segments;
    private readonly ChunkPool _pool;
    private readonly Backlog? _backlog;
    private readonly SublogPlace _place;
    private readonly FileHeader _header;
    private readonly long _segmentBytes;
    private byte* _buffer;
    private long _bufferBytes, _used, _offset, _end, _begun, _zeroed;
    private byte* _zeros;
    private int _alignment = WriteAlignment;
    private uint _chain, _term;
    private ulong _proven;
    private IDiskFile? _file;
    private string _name = "";

    public SegmentWriter(LogPieces pieces, long segmentBytes)
    {
        SublogPlace place = pieces.Place;
        _disk = pieces.Disk;
        _segments = pieces.Segments;
        _pool = pieces.Pool;
        _backlog = pieces.Backlog;
        _place = place;
        _segmentBytes = segmentBytes;
        _chain = place.Chain;
        _term = place.Start.Term;
        _proven = place.Start.LastBatch;
        _header = new FileHeader
        {
            Sublog = (byte)place.Number, Sublogs = (byte)place.Count, FirstBatch = 0, Term = place.Start.Term,
            Lanes = (uint)place.Start.Lanes, HashSeed = place.Start.HashSeed, PreviousCrc = 0,
            IsReceived = place.Follows,
        };
        _bufferBytes = BufferBytes;
        _buffer = (byte*)NativeMemory.AlignedAlloc(BufferBytes, WriteAlignment);
    }

    /// <summary>The file, as the manifest is to name it before anything is in it.</summary>
    public NamedLog Named { get; private set; }

    /// <summary>Bytes laid out and not written.</summary>
    public long UsedBytes => _used;

    /// <summary>Whether the part fits into the file behind what is laid out already.</summary>
    public bool Fits(SealedPart part) => HasRoom(_place.Follows ? DurableProof.Bytes + part.Bytes + _alignment : part.Bytes);

    /// <summary>Whether a part of so many bytes would fit.</summary>
    public bool HasRoom(long bytes) => _file != null && _offset + Align(Align(_used, PartAlignment) + bytes, _alignment) <= _end;

    /// <summary>Whether writing the part costs no more than a copy, with what is laid out already.</summary>
    public bool IsCopy(SealedPart part) => _file!.CopyRoom >= Align(_used, PartAlignment) + DurableProof.Bytes + part.Bytes + PartAlignment;

    /// <summary>Who has written the file makes that durable at once, and nobody else can (log.W13).</summary>
    public bool SyncIsFence => _file is { SyncIsFence: true };

    /// <summary>What a sync of the file is worth.</summary>
    public PersistenceDomain Domain => _file?.Domain ?? PersistenceDomain.Disk;

    private bool IsBuffered => _file is { Alignment: 1 };

    /// <summary>
    /// Goes on to a file that begins with the batch and holds a part of <paramref name="partBytes"/> at least. Everything
    /// laid out has been written and synced.
    /// </summary>
    public void Switch(ulong firstBatch, long partBytes, uint term, FileCaching caching)
    {
        _file?.Finish(); // log.W3
        _file?.Dispose();
        _file = null;
        _name = LogFileName.Of(_place.Number, firstBatch);
        // Behind the last batch that counts nothing counts, and a try that found the disk full may have left a file.
        if (_segments.Has(_place.Number, firstBatch))
        {
            _disk.Delete(_name);
            _segments.Remove(_place.Number, firstBatch);
        }
        long needed = Align(_place.Follows ? partBytes + 2 * WriteAlignment : partBytes, WriteAlignment); // log.W11
        long bytes = Math.Max(Align(_segmentBytes, WriteAlignment), FileHeader.Bytes + needed);
        _file = _disk.Create(_name, bytes, caching);
        _segments.Add(_place.Number, firstBatch, bytes);
        WriteHeader(firstBatch, term);
        _alignment = IsBuffered ? PartAlignment : WriteAlignment;
        _end = bytes;
        _offset = FileHeader.Bytes;
        _begun = 0;
        _zeroed = _offset;
        Named = Named with { Bytes = bytes };
    }

    /// <summary>
    /// Lays the part out behind those before it and gives its memory back; <paramref name="durable"/> is synced in all sublogs.
    /// </summary>
    public void Lay(SealedPart part, ulong durable)
    {
        if (_used > 0 || _offset > FileHeader.Bytes)
            LayProof(durable);
        long at = Align(_used, PartAlignment), end = at + part.Bytes;
        EnsureBuffer(Align(end, WriteAlignment));
        new Span<byte>(_buffer + _used, (int)(at - _used)).Clear();
        _pool.Account(end - _used);
        BatchHeader header = part.Whole is null ? LayOwn(part, at, durable) : LayReceived(part, at);
        _backlog?.Take(header, _chain, new ReadOnlySpan<byte>(_buffer + at, (int)part.Bytes), part.Whole);
        part.LetGo();
        _used = end;
    }

    /// <summary>Lays out that all up to the batch is durable, if that is news and is said so here; true if it did (log.W11).</summary>
    public bool LayProof(ulong durable)
    {
        if (!_place.Follows || durable <= _proven || !HasRoom(DurableProof.Bytes))
            return false;
        long at = Align(_used, PartAlignment), end = at + DurableProof.Bytes;
        EnsureBuffer(Align(end, WriteAlignment));
        new Span<byte>(_buffer + _used, (int)(at - _used)).Clear();
        new DurableProof { Sublog = (byte)_place.Number, Sublogs = (byte)_place.Count, Batch = durable, Term = _term, PreviousCrc = _chain }
            .Write(new Span<byte>(_buffer + at, DurableProof.Bytes));
        _pool.Account(end - _used);
        (_used, _proven) = (end, durable);
        return true;
    }

    /// <summary>Whether more than this is said to be durable already.</summary>
    public bool Owes(ulong durable) => _place.Follows && durable > _proven;

    private BatchHeader LayOwn(SealedPart part, long at, ulong durable)
    {
        byte* table = _buffer + at + BatchHeader.Bytes, entries = table + part.RowCount * LaneRow.Bytes;
        Chunk* copied = null;
        foreach (ref readonly LaneTake take in part.Rows)
        {
            new LaneRow(take.Lane, take.Entries, (uint)take.Bytes).Write(new Span<byte>(table, LaneRow.Bytes));
            table += LaneRow.Bytes;
            entries = Copy(take.Head, entries, out Chunk* last);
            last->Next = copied;
            copied = take.Head;
        }
        _pool.Give(copied);
        var header = new BatchHeader
        {
            Kind = part.Kind, Term = _place.Start.Term, Batch = part.Batch, SealedUnixUs = (ulong)part.SealedUnixUs,
            Part = (byte)_place.Number, Parts = (byte)_place.Count, Lanes = (ushort)part.RowCount, BodyBytes = (uint)part.BodyBytes,
            Entries = part.Entries, PreviousCrc = _chain, DurableBatch = durable, Owner = _place.Start.Owner,
            BodyCrc = Crc32C.Of(new ReadOnlySpan<byte>(_buffer + at + BatchHeader.Bytes, (int)part.BodyBytes)),
        };
        _chain = header.Write(new Span<byte>(_buffer + at, BatchHeader.Bytes));
        return header;
    }

    // log.W9: what a primary has written stands here byte by byte as it stands there; its chain was checked when it came in.
    private BatchHeader LayReceived(SealedPart part, long at)
    {
        part.Received.CopyTo(new Span<byte>(_buffer + at, (int)part.Bytes));
        _pool.Account(-part.Bytes);
        HeaderState state = BatchHeader.TryRead(part.Received, out BatchHeader header, out uint crc);
        Garnet.Common.Faults.Check.That(state == HeaderState.Whole && header.PreviousCrc == _chain,
            "log.W9 a batch received follows the one before it");
        (_chain, _term) = (crc, header.Term);
        return header;
    }

    /// <summary>Writes what is laid out; returns the bytes written with padding.</summary>
    public long Flush()
    {
        long bytes = Align(_used, _alignment);
        new Span<byte>(_buffer + _used, (int)(bytes - _used)).Clear();
        if (!IsBuffered)
            ZeroAhead(_offset + bytes);
        _file!.Write(_offset, new ReadOnlySpan<byte>(_buffer, (int)bytes));
        _offset += bytes;
        Discard();
        return bytes;
    }

    /// <summary>Forgets what is laid out.</summary>
    public void Discard()
    {
        _pool.Account(-_used);
        _used = 0;
        if (_bufferBytes > BufferBytesKept)
            Resize(BufferBytes);
    }

    /// <summary>
    /// Makes what was written durable. No failure of a sync can be waited out, a full disk included; what only has not come to the file yet can.
    /// </summary>
    public void Sync()
    {
        _file?.Settle();
        try
        {
            _file?.Sync();
        }
        catch (DiskException e) when (e.IsFull)
        {
            throw new DiskException("sync", _name, e.Message, isFull: false);
        }
    }

    /// <summary>Where the next write goes, of which everything before has been written.</summary>
    public long Offset => _offset;

    /// <summary>Hands what was written up to the offset to the disk, if that is much. Beside the writer.</summary>
    public void BeginSync(long offset)
    {
        long to = offset & -(long)WriteAlignment;
        long from = _begun;
        if (to - from < BeginSyncBytes)
            return;
        _begun = to; // first: while the disk takes it nobody need ask for it again
        try
        {
            _file?.BeginSync(from, to);
        }
        catch (DiskException)
        {
            _begun = from;
            throw;
        }
    }

    /// <summary>Whether <see cref="BeginSync"/> has something to do.</summary>
    public bool HasMuchUnsynced => _offset - _begun >= BeginSyncBytes + WriteAlignment;

    /// <summary>Gives the file back.</summary>
    public void Close()
    {
        _file?.Dispose();
        _file = null;
    }

    public void Dispose()
    {
        Close();
        NativeMemory.AlignedFree(_buffer);
        NativeMemory.AlignedFree(_zeros);
        _buffer = _zeros = null;
    }

    private void WriteHeader(ulong firstBatch, uint term)
    {
        EnsureBuffer(FileHeader.Bytes);
        var block = new Span<byte>(_buffer, FileHeader.Bytes); // nothing is laid out
        FileHeader header = _header with { FirstBatch = firstBatch, PreviousCrc = _chain, Term = term };
        Named = new NamedLog(firstBatch, header.Identity, 0);
        bool hasTail = _file!.HasTail;
        header.Write(block);
        if (hasTail)
            _file.LeaveAs(block);
        if (hasTail)
            (header with { HasTail = true, Run = _file.TailRun, TailNumber = _file.TailNumber }).Write(block);
        try
        {
            _file.Write(0, block);
            Sync();
            _disk.SyncDirectory();
        }
        catch (DiskException)
        {
            _file!.Dispose();
            _file = null;
            throw;
        }
    }

    // The first write to room set aside changes the file system's own records, and the sync behind it waits for its journal;
    // done for a mebibyte at once, the syncs of 256 small batches have a third to do (measured on ext4).
    private void ZeroAhead(long end)
    {
        if (end <= _zeroed)
            return;
        if (_zeros == null)
        {
            _zeros = (byte*)NativeMemory.AlignedAlloc(ZeroAheadBytes, WriteAlignment);
            new Span<byte>(_zeros, ZeroAheadBytes).Clear();
        }
        long to = Math.Min(_end, end + ZeroAheadBytes);
        long from = Math.Max(_zeroed, Math.Min(end, to)); // what is written at once needs no zeros
        if (to > from)
            _file!.Write(from, new ReadOnlySpan<byte>(_zeros, (int)(to - from)));
        _zeroed = to;
    }

    private static byte* Copy(Chunk* chain, byte* to, out Chunk* last)
    {
        last = chain;
        for (; chain != null; chain = chain->Next)
        {
            Buffer.MemoryCopy(Chunk.Start(chain), to, chain->Used, chain->Used);
            to += chain->Used;
            last = chain;
        }
        return to;
    }

    private void EnsureBuffer(long bytes)
    {
        if (bytes <= _bufferBytes)
            return;
        Garnet.Common.Faults.Check.That(bytes <= int.MaxValue, "log.W1 a write is shorter than 2 GiB");
        Resize(Math.Min(int.MaxValue / WriteAlignment * (long)WriteAlignment, Math.Max(bytes, _bufferBytes * 2)));
    }

    private void Resize(long bytes)
    {
        byte* larger = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, WriteAlignment);
        Buffer.MemoryCopy(_buffer, larger, bytes, _used);
        NativeMemory.AlignedFree(_buffer);
        _buffer = larger;
        _bufferBytes = bytes;
    }

    private static long Align(long bytes, int alignment) => (bytes + alignment - 1) & -alignment;
}
