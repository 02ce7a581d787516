using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Common.Faults;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// A ring of records in persistent memory: the last bytes written to one file of the log. One thread at a time appends and fences, one
/// at a time drains beside it.
/// log.R1: a record proves itself: number of the file, lap, place in the order, place in the file, checksum over all and its bytes. So one
/// fence makes any number of them durable, and nothing else needs to be written to say so.
/// log.R2: room is used again only after a head behind it is fenced; so what the head that counts points at was never written over.
/// log.R3: the head is written to the copy that does not count; a torn one changes nothing.
/// log.R4: nothing that stands there is believed before it is bounded: lengths by the ring, positions by the order, before any use.
/// log.R5: only what is fenced is drained: what others see of stores before that is not said (media.P2).
/// log.R11: of a head with one wrong byte its checksum says what it was (<see cref="PmLine"/>). One with more may have been the newer of the two, or torn by a power cut; nothing
/// of such a ring is given up before something else has shown which: its records, or the files of the log.
/// </summary>
internal sealed class PmRing
{
    /// <summary>What stands before the records: the two copies of the head, on lines of different blocks of the medium.</summary>
    public const int HeadBytes = 4096;

    /// <summary>The least that a ring may have: it holds many small records then.</summary>
    public const long BytesMin = HeadBytes + (64 << 10);

    /// <summary>What a file's header calls the run of the system in which its tail was written: a ring outlives all of them.</summary>
    public const string Run = "persistent-memory-outlives-each-run!";

    private const int CopyAt = 1024, Line = IPmRange.LineBytes, RecordBytesMin = 2 * Line, PieceBytesMax = 8 << 20;

    private readonly IPmRange _range;
    private readonly long _start, _size;
    private readonly PlantedPmFault _fault;
    private PmHead _head;
    private ulong _number; // as the head has it; who appends does not look at a head that is just replaced
    private PmPlace _tail;
    private long _headPosition, _fencedPosition;

    /// <summary>A ring over a part of a range; <paramref name="bytes"/> counts the heads too.</summary>
    public PmRing(IPmRange range, long start, long bytes, PlantedPmFault fault = PlantedPmFault.None)
    {
        Check.That((start | bytes) % Line == 0 && bytes >= HeadBytes + RecordBytesMin && start + bytes <= range.Bytes,
            "log.R4 a ring lies inside its range");
        (_range, _start, _size, _fault) = (range, start + HeadBytes, bytes - HeadBytes, fault);
        _head = Newer(ReadHead(0), ReadHead(1)) ?? new PmHead { Generation = 0, Number = 0, Place = new PmPlace(0, 0, FileHeader.Bytes) };
        MayLackHead = IsDoubtful(0) || IsDoubtful(1);
        _tail = _head.Place;
        _headPosition = _fencedPosition = _tail.Position;
        _number = _head.Number;
    }

    /// <summary>What a fence is worth.</summary>
    public PersistenceDomain Domain => _range.Domain;

    /// <summary>Which file it serves; 0 = none.</summary>
    public ulong Number => _number;

    /// <summary>All before it is fenced.</summary>
    public long FencedPosition => Volatile.Read(ref _fencedPosition);

    /// <summary>All before it has been given up.</summary>
    public long HeadPosition => Volatile.Read(ref _headPosition);

    /// <summary>Whose file it holds, and from where on.</summary>
    public PmHead Head => _head;

    /// <summary>log.R11: a copy of the head cannot be read that may have been newer than the one that counts.</summary>
    public bool MayLackHead { get; }

    /// <summary>Bytes of records that are fenced and not given up.</summary>
    public long Undrained => Volatile.Read(ref _fencedPosition) - Volatile.Read(ref _headPosition);

    /// <summary>A fence waits for no device.</summary>
    public bool FencesAtOnce => _range.FencesAtOnce;

    /// <summary>So many bytes can be appended before something must be given up, in two records if the ring ends between them; for who appends.</summary>
    public long Room => Math.Max(0, HeadPosition + _size - _tail.Position - (2 * PmRecord.SpanOf(1)) - RecordBytesMin);

    /// <summary>Bytes there are for records.</summary>
    public long Size => _size;

    /// <summary>Zeros where the heads of a ring will be: bytes of clients' values that stood there look like whatever they like.</summary>
    public static void Clear(IPmRange range, long start)
    {
        Span<byte> zeros = stackalloc byte[Line];
        zeros.Clear();
        range.Write(start, zeros);
        range.Write(start + CopyAt, zeros);
    }

    /// <summary>An error number as the failure of a disk.</summary>
    public static DiskException Failure(string operation, int error) =>
        new(operation, "the ring in persistent memory", new System.ComponentModel.Win32Exception(error).Message, isFull: false);

    /// <summary>Serves a file from now on, of which it holds nothing yet. Returns 0, or the error number.</summary>
    public int Begin(int sublog, ulong firstBatch)
    {
        ulong number = BitConverter.ToUInt64(Libc.RandomBytes(sizeof(ulong))) | 1; // 0 = none
        return Begin(sublog, firstBatch, number);
    }

    /// <summary>The same under a number that the caller has chosen.</summary>
    internal int Begin(int sublog, ulong firstBatch, ulong number)
    {
        _tail = new PmPlace(0, 1, FileHeader.Bytes);
        _fencedPosition = 0;
        return Put(new PmHead
        {
            Generation = _head.Generation + 1, Number = number, Place = _tail, Sublog = sublog, FirstBatch = firstBatch,
        });
    }

    /// <summary>Appends what there is room for as one record; returns how many bytes that is. Durable after <see cref="Fence"/>.</summary>
    public int Append(ReadOnlySpan<byte> bytes)
    {
        long at = Wrapped(_tail.Position), offset = at % _size;
        long room = Math.Min(_size - offset, Volatile.Read(ref _headPosition) + _size - at) - PmRecord.Bytes; // log.R2
        int taken = (int)Math.Min(Math.Min(bytes.Length, PieceBytesMax), room & -(long)Line);
        if (taken <= 0)
            return 0;
        ReadOnlySpan<byte> payload = bytes[..taken];
        int whole = taken & -Line;
        _range.Write(_start + offset + PmRecord.Bytes, payload[..whole]);
        Span<byte> line = stackalloc byte[Line];
        if (whole < taken)
        {
            line.Clear();
            payload[whole..].CopyTo(line);
            _range.Write(_start + offset + PmRecord.Bytes + whole, line);
        }
        uint lap = (uint)(at / _size) - (_fault == PlantedPmFault.WrongLap ? 1u : 0u);
        new PmRecord
        {
            Number = _number, Lap = lap, Sequence = _tail.Sequence, FileOffset = _tail.FileOffset, Length = taken,
        }.Write(line, payload);
        _range.Write(_start + offset, line);
        _tail = new PmPlace(at + PmRecord.SpanOf(taken), _tail.Sequence + 1, _tail.FileOffset + taken);
        return taken;
    }

    /// <summary>What was appended is durable when this returns 0, and may be drained; else the error number says why not.</summary>
    public int Fence()
    {
        int error = _fault == PlantedPmFault.NoFence ? 0 : _range.Fence();
        if (error == 0)
            Interlocked.Exchange(ref _fencedPosition, _tail.Position); // whoever drains looks at it after it has said how far it is
        return error;
    }

    /// <summary>The fenced record at the place, and the place behind it; false if there is none.</summary>
    public bool TryNext(ref PmPlace place, out ReadOnlySpan<byte> payload)
    {
        payload = default;
        return place.Position < Volatile.Read(ref _fencedPosition) && TryRead(ref place, _headPosition, out payload);
    }

    /// <summary>After a start: the record at the place, whatever this process knows of it, and the place behind it; false if there is none that counts.</summary>
    public bool TryFind(ref PmPlace place, out ReadOnlySpan<byte> payload) => TryRead(ref place, _head.Place.Position, out payload);

    /// <summary>After a start: the ring has a record of its file from the place on, whether or not those before it are there; a walk over all of it.</summary>
    public bool HoldsBehind(PmPlace place)
    {
        for (long offset = 0; offset + RecordBytesMin <= _size; offset += Line)
        {
            ReadOnlySpan<byte> line = _range.At(_start + offset, Line);
            if (PmRecord.TryRead(line) is { } record && record.Number == _number && record.Number != 0 && record.Sequence >= place.Sequence
                && record.Length > 0 && record.Length <= _size - offset - Line
                && PmRecord.Holds(line, _range.At(_start + offset + Line, record.Length)))
                return true;
        }
        return false;
    }

    /// <summary>The file has, durably, all before the place: the room is free. Returns 0, or the error number.</summary>
    public int GiveUp(PmPlace place) => Put(_head with { Generation = _head.Generation + 1, Place = place });

    /// <summary>After a start: all that was found has been put into the file, and nothing of it is believed any more.</summary>
    public int Forget() => Put(new PmHead { Generation = _head.Generation + 1, Number = 0, Place = new PmPlace(0, 0, FileHeader.Bytes) });

    private bool TryRead(ref PmPlace place, long from, out ReadOnlySpan<byte> payload)
    {
        payload = default;
        long at = Wrapped(place.Position), offset = at % _size;
        if (at > PmPlace.Max || at + RecordBytesMin > from + _size)
            return false; // it would be the one it began with
        ReadOnlySpan<byte> line = _range.At(_start + offset, Line);
        if (PmRecord.TryRead(line) is not { } record || record.Number != _number || record.Number == 0 || record.Lap != (uint)(at / _size)
            || record.Sequence != place.Sequence || record.FileOffset != place.FileOffset)
            return false;
        // log.R4
        if (record.Length <= 0 || record.Length > _size - offset - Line || at + PmRecord.SpanOf(record.Length) > from + _size)
            return false;
        payload = _range.At(_start + offset + Line, record.Length);
        if (_fault != PlantedPmFault.NoChecksum && !PmRecord.Holds(line, payload))
            return false;
        place = new PmPlace(at + PmRecord.SpanOf(record.Length), place.Sequence + 1, place.FileOffset + record.Length);
        return true;
    }

    // Where the ring ends with less than a record's least, the next one stands at its beginning.
    private long Wrapped(long position) => _size - (position % _size) is var left && left < RecordBytesMin ? position + left : position;

    private int Put(PmHead head)
    {
        Span<byte> line = stackalloc byte[Line];
        head.Write(line);
        ulong copy = _fault == PlantedPmFault.OneHead ? 0 : head.Generation % 2;
        _range.Write(_start - HeadBytes + ((long)copy * CopyAt), line); // log.R3
        int error = _fault is PlantedPmFault.ReuseBeforeHead ? 0 : _range.Fence();
        if (error != 0)
            return error;
        (_head, _number) = (head, head.Number);
        Volatile.Write(ref _headPosition, head.Place.Position);
        return 0;
    }

    private PmHead? ReadHead(int copy) =>
        PmHead.TryRead(HeadLine(copy), believes: _fault == PlantedPmFault.NoHeadChecksum) ?? PmHead.TryMend(HeadLine(copy));

    // False where the head before the one that counts stood.
    private bool IsDoubtful(int copy) => ReadHead(copy) is null && !PmLine.IsBlank(HeadLine(copy))
        && PmHead.GenerationIn(HeadLine(copy)) + 1 != _head.Generation;

    private ReadOnlySpan<byte> HeadLine(int copy) => _range.At(_start - HeadBytes + (copy * CopyAt), Line);

    private static PmHead? Newer(PmHead? a, PmHead? b) => a is null || (b is not null && b.Value.Generation > a.Value.Generation) ? b : a;
}
