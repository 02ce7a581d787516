using Garnet.Common;

namespace Tsavorite;

/// <summary>
/// Moves a record that no segment takes alone to a run of segments (store.C10), part by part, so that no hold of the partition's lock is longer than it takes to
/// copy <see cref="BytesPerHold"/> and no round of the movers longer than it asks for. What the record was when the copy began, the extent knows (store.C1): a
/// change makes the copy void, and it is given up. The first segment, which has the checksums, is written last. One record at a time, by the mover's thread.
/// From persistent memory, where one lies that came before there was a disk, it goes on as it is: what lies there never changes, and is pinned meanwhile.
/// </summary>
internal sealed unsafe class ColdRunWriter(StoreCore core, ColdTier tier) : IDisposable
{
    /// <summary>Some microseconds of a lock (store.U5).</summary>
    private const int BytesPerHold = 32 << 10;
    private const int PageBytes = ColdSegments.PageBytes;
    /// <summary>From where nothing goes further: what is so long does not take the room of many in persistent memory.</summary>
    private readonly ColdSegments _segments = tier.Segments.Bottom;
    private NativeArray<byte>? _memory;
    private ColdMove _move;
    private uint _page, _first, _number, _copy, _copies;
    private (int Partition, ulong Hash, ulong Word) _lacked; // the record that lacks segments
    private long _bytes, _done, _copied;
    // Of what goes on from persistent memory: the first segment, the next, the checksum there.
    private uint _sunkFirst, _sunk;
    private ColdSum _sum, _sunkSum;
    private int _moved;
    private bool _hasFailed;

    /// <summary>True while a record is being copied.</summary>
    public bool IsActive => _first != 0;

    /// <summary>True while no more may be written to where it writes (<see cref="WriteBudget"/>): no record is begun.</summary>
    public bool IsHeldBack { get; set; }

    /// <summary>Free segments that the last record wanted for which there were too few; 0 once there is none such.</summary>
    public int Lacking { get; private set; }

    private byte* First => _memory!.Value.Items;
    private byte* Other => _memory!.Value.Items + _segments.SegmentBytes;
    private ColdPlace Place => tier.Segments.PlaceOf(_segments.OffsetOf(_first) + PageBytes);
    private byte* Source => core.Shape->Base + IndexWord.Offset(_move.From);

    /// <summary>True if the record, which no segment takes alone, can be moved at all: its parts are copied as they lie in an extent.</summary>
    public bool Takes(byte* record, long bytes) => (Record.Flags(record) & Record.ExtentFlag) != 0
        && ColdRecord.HeadBytes(record) <= _segments.RecordBytesMax
        && _segments.PartsFor(bytes) <= _segments.Total - tier.ReserveOf(_segments);

    /// <summary>Begins with a record, whose partition is locked; none is being copied. False if there are too few free segments.</summary>
    public bool TryBegin(Partition* partition, ulong hash, ulong word, byte* record)
    {
        if (IsHeldBack)
            return false;
        long bytes = ColdRecord.BytesOf(record);
        bool begins = TryBegin(partition, hash, word, bytes, tier.TimedFromMs(record));
        Lacking = begins ? 0 : _segments.PartsFor(bytes);
        _lacked = (partition->Number, hash, word);
        if (!begins)
            return false;
        _page = core.Records.ExtentOf(record);
        _copy = ++_copies == 0 ? ++_copies : _copies;
        core.Records.ExtentDescriptor(_page)->Copy = _copy;
        return true;
    }

    /// <summary>Nothing lacks segments any more.</summary>
    public void ForgetLacking() => Lacking = 0;

    /// <summary>Nothing lacks segments if the record that did is gone, or has been read since: room that is made for it would be made for nobody.</summary>
    public void RenewLacking()
    {
        if (Lacking == 0)
            return;
        Partition* partition = core.Shape->Partitions + _lacked.Partition;
        Partition.Enter(partition);
        ulong* slot = ColdWriter.FindWord(partition, Shape.BucketOf(core.Shape, partition, _lacked.Hash), _lacked.Word);
        if (slot == null || IndexWord.Frequency(*slot) != 0)
            Lacking = 0;
        Partition.Exit(partition);
    }

    /// <summary>
    /// Begins with a record that lies in a run in persistent memory, and goes on to the disk, if there are enough free segments; its partition is locked, and so is
    /// its word true. <paramref name="image"/>: what it says of itself, judged.
    /// </summary>
    public void TryBeginSink(Partition* partition, ulong hash, ulong word, byte* image)
    {
        if (IsActive || !TryBegin(partition, hash, word, ColdRecord.BytesOf(image), tier.TimedFromMs(word)))
            return;
        _sunkFirst = _sunk = tier.Segments.NumberOf(word);
        tier.Segments.Pin(_sunkFirst);
    }

    private bool TryBegin(Partition* partition, ulong hash, ulong word, long bytes, long timedFromMs)
    {
        int parts = _segments.PartsFor(bytes);
        uint first = _segments.Free - tier.ReserveOf(_segments) < parts ? 0 : _segments.TakeRun(parts);
        if (first == 0)
            return false;
        ulong to = ColdAddress.Word(word, _segments.OffsetOf(first) + PageBytes);
        _move = new ColdMove(partition->Number, hash, word, to, 0, (int)bytes, timedFromMs);
        (_first, _number, _bytes, _done) = (first, first, bytes, 0);
        return true;
    }

    /// <summary>Goes on with the record, for about so many bytes; returns how many were copied.</summary>
    public long Advance(long bytes)
    {
        long before = _done, copied = 0;
        _memory ??= IsActive ? new NativeArray<byte>(2L * _segments.SegmentBytes, PageBytes) : null;
        while (IsActive && copied < bytes)
        {
            bool goesOn = TryPart() && (_done < _bytes || TryEnd());
            copied = _done - before;
            if (!goesOn)
                GiveUp();
            else if (_done == _bytes)
                _first = 0;
        }
        if (!IsActive)
            Free();
        _copied += copied;
        return copied;
    }

    /// <summary>Bytes that were copied since the last call, whatever becomes of them.</summary>
    public long TakeCopied()
    {
        long copied = _copied;
        _copied = 0;
        return copied;
    }

    /// <summary>Records that have moved since the last call.</summary>
    public int TakeMoved()
    {
        int moved = _moved;
        _moved = 0;
        return moved;
    }

    /// <summary>True if a write has failed since the last call.</summary>
    public bool TakeFailure()
    {
        bool failed = _hasFailed;
        _hasFailed = false;
        return failed;
    }

    /// <inheritdoc/>
    public void Dispose() => Free();

    private void Free()
    {
        _memory?.Dispose();
        _memory = null;
        if (_sunkFirst != 0)
            tier.Segments.Unpin(_sunkFirst);
        _sunkFirst = 0;
    }

    // The copy is void, or was not written: with nothing in it that counts the run is free again.
    private void GiveUp()
    {
        _segments.Seal(_first);
        _first = 0;
        if (!_hasFailed)
            Void();
    }

    // What is changed while it is copied counts as read: it would be copied again and again, and others would have no turn.
    private void Void()
    {
        tier.Count(TierCount.Stillborn);
        Partition* partition = core.Shape->Partitions + _move.Partition;
        Partition.Enter(partition);
        ulong* slot = ColdWriter.FindWord(partition, Shape.BucketOf(core.Shape, partition, _move.Hash), _move.From);
        if (slot != null)
            Interlocked.Or(ref *slot, IndexWord.FrequencyMask); // store.U1: readers raise it meanwhile
        Partition.Exit(partition);
    }

    private bool TryPart()
    {
        bool isFirst = _number == _first;
        byte* buffer = isFirst ? First : Other;
        int bytes = (int)Math.Min(_bytes - _done, _segments.RecordBytesMax);
        if (!(_sunkFirst != 0 ? TryCopySunk(buffer + PageBytes, bytes) : TryCopy(buffer + PageBytes, bytes)))
            return false;
        if (isFirst)
        {
            ColdRecord.BeCold(buffer + PageBytes);
            _sum = Place.Begin(buffer + PageBytes);
            _sum.AddFirst(buffer + PageBytes, bytes);
        }
        else
        {
            _sum.Add(buffer + PageBytes, bytes);
        }
        _segments[_number]->Used = PageBytes + bytes;
        bool isWritten = isFirst || TryWrite(buffer, _number);
        _done += bytes;
        _number = _segments[_number]->Next;
        return isWritten;
    }

    // Its parts have the lengths that they have on the disk.
    private bool TryCopySunk(byte* to, int bytes)
    {
        byte* from = tier.Medium.InPlace(tier.Segments.OffsetOf(_sunk) + PageBytes, bytes);
        if (from == null)
            return TellUnreadable(Garnet.Common.Linux.Libc.EIO);
        Buffer.MemoryCopy(from, to, bytes, bytes);
        if (_sunk == _sunkFirst)
        {
            _sunkSum = tier.Segments.PlaceOf(ColdAddress.Offset(_move.From)).Begin(to);
            _sunkSum.AddFirst(to, bytes);
        }
        else
        {
            _sunkSum.Add(to, bytes);
        }
        _sunk = tier.Segments[_sunk]->Next;
        return true;
    }

    private bool TellUnreadable(int error)
    {
        tier.CountFailure(_sunkFirst, error);
        return false;
    }

    private bool TryCopy(byte* to, int bytes)
    {
        Partition* partition = core.Shape->Partitions + _move.Partition;
        bool isSame = true;
        for (int at = 0; at < bytes && isSame; at += BytesPerHold)
        {
            Partition.Enter(partition);
            isSame = core.Records.ExtentDescriptor(_page)->Copy == _copy;
            if (isSame)
                Buffer.MemoryCopy(Source + _done + at, to + at, bytes - at, Math.Min(BytesPerHold, bytes - at));
            Partition.Exit(partition);
        }
        return isSame;
    }

    private bool TryWrite(byte* buffer, uint number)
    {
        ColdSegment* segment = _segments[number];
        int end = (segment->Used + PageBytes - 1) & ~(PageBytes - 1);
        new Span<byte>(buffer + segment->Used, end - segment->Used).Clear();
        ColdHead.Write(buffer, number, segment, tier.Id);
        int error = tier.Write(number, 0, buffer, end);
        segment->End = error != 0 ? 0 : ColdEnd.MarkOf(buffer + end - PageBytes);
        _hasFailed |= error != 0;
        return error == 0;
    }

    // All parts are copied.
    private bool TryEnd()
    {
        byte* image = First + PageBytes;
        if (_sunkFirst != 0 && *(uint*)image != _sunkSum.Value)
            return TellUnreadable(0); // under a new checksum nobody would know
        *(uint*)image = _sum.Value;
        ColdHead.WriteOfRun(First, image, Place);
        if (!TryWrite(First, _first))
            return false;
        _segments.Note(_first, Record.Namespace(image), Record.ExpireAtMs(image), _segments[_first]->Used);
        _segments.Seal(_first);
        if (!TryName())
        {
            _segments.Died(_move.To);
            Void();
        }
        return true;
    }

    // store.C1
    private bool TryName()
    {
        Partition* partition = core.Shape->Partitions + _move.Partition;
        Partition.Enter(partition);
        bool isSame = _sunkFirst != 0 || core.Records.ExtentDescriptor(_page)->Copy == _copy;
        byte* bucket = Shape.BucketOf(core.Shape, partition, _move.Hash);
        ulong* slot = isSame ? ColdWriter.FindWord(partition, bucket, _move.From) : null;
        bool moves = slot != null && (_sunkFirst != 0 || IndexWord.Frequency(*slot) == 0);
        if (moves)
            _move.Commit(core, partition, bucket, slot);
        Partition.Exit(partition);
        _moved += moves ? 1 : 0;
        return moves;
    }
}
