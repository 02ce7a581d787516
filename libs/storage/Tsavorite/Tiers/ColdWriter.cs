using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// Puts records into cold segments: copies gather in a buffer per size of record, are written together, and only then do words name them
/// (store.C1). One thread at a time. Which records lie in one segment, and how, <see cref="ColdClass"/> says: one read fetches a record, whichever it is.
/// </summary>
internal sealed unsafe class ColdWriter : IDisposable
{
    private const int HeaderBytes = ColdHead.Bytes, MovesPerHold = 16;
    /// <summary>
    /// Open segments of a class at most, each for one namespace while there are as few, as many as a server has databases if nobody says otherwise: a segment
    /// with records of one only can be named by a snapshot without a look at its records. Those that are open are at most this part of the tier
    /// (where it has two parts, of the one that is written to), or one for each class; so they are where nothing is named.
    /// </summary>
    private const int OpenPerClass = 16, OpenPart = 2;
    /// <summary>Buffers of a segment each that are in use at most, and that are kept for the next round.</summary>
    private const int BuffersMax = 16, BuffersKept = 4;
    private readonly StoreCore _core;
    private readonly ColdTier _tier;
    private readonly ColdLayers _segments;
    private readonly OpenSegment[] _open;
    private readonly int _openMax;
    private readonly bool _goesDown;
    private readonly List<ColdMove> _moves = [];
    private readonly Stack<nint> _buffers = new();
    private int _openCount, _buffersInUse;
    private bool _hasFailed;

    /// <summary>With <paramref name="goesDown"/> records go to the part from where nothing goes further, else to the upper one while it has room.</summary>
    public ColdWriter(StoreCore core, ColdTier tier, bool goesDown = false)
    {
        _goesDown = goesDown;
        _core = core;
        _tier = tier;
        _segments = tier.Segments;
        _openMax = tier.Names is null ? 0 : (goesDown ? _segments.Bottom : _segments.Parts[0]).Total / OpenPart;
        _open = new OpenSegment[ColdClass.CountOf(_segments.Bottom.Bands) * OpenPerClass];
        Runs = new ColdRunWriter(core, tier);
    }

    /// <summary>True if a write has failed since the last call.</summary>
    public bool TakeFailure()
    {
        bool failed = _hasFailed;
        _hasFailed = false;
        return failed | Runs.TakeFailure();
    }

    /// <summary>Who moves records that no segment takes alone.</summary>
    public ColdRunWriter Runs { get; }

    /// <summary>The last few free segments may be taken: for what frees more than it takes.</summary>
    public bool MayTakeReserve { get; set; }

    /// <summary>Bytes of records that were staged and are not named yet.</summary>
    public long StagedBytes { get; private set; }

    /// <summary>
    /// Copies a record for the tier; its partition is locked, or it lies in a buffer of the caller's. False: <see cref="Flush"/> first, or there is no
    /// free segment (<paramref name="isFull"/>).
    /// </summary>
    public bool TryStage(Partition* partition, ulong hash, ulong word, byte* record, out bool isFull)
    {
        int bytes = (int)ColdRecord.BytesOf(record);
        ColdClass of = ColdClass.Of(bytes);
        ref OpenSegment open = ref OpenFor(of, Record.Namespace(record));
        isFull = false;
        if (open.Buffer == null && _buffersInUse == BuffersMax)
            return false;
        int at = PlaceIn(open, of, bytes);
        if (open.Number == 0 || at + bytes > _segments.SegmentBytes)
        {
            open.IsFull = open.Number != 0;
            if (open.IsFull)
                return false;
            isFull = !TryOpen(ref open, of, Record.Namespace(record));
            if (isFull)
                return false;
            at = PlaceIn(open, of, bytes);
        }
        if (open.Buffer == null)
            TakeBuffer(ref open);
        long offset = _segments.OffsetOf(open.Number) + at;
        ColdRecord.Write(open.Buffer + at, record, bytes, _segments.PlaceOf(offset));
        open.Used = at + bytes;
        ulong to = ColdAddress.Word(word, offset);
        _segments.Note(open.Number, Record.Namespace(record), Record.ExpireAtMs(record), open.Used);
        _moves.Add(new ColdMove(partition->Number, hash, word, to, (nint)(open.Buffer + at), bytes, _tier.TimedFromMs(record)));
        StagedBytes += bytes;
        return true;
    }

    /// <summary>Writes what was staged and lets words name it; returns how many records moved.</summary>
    public int Flush(bool seal)
    {
        for (int i = 0; i < _open.Length; i++) Write(ref _open[i]);
        int moved = 0;
        for (int i = 0; i < _moves.Count;) moved += Commit(ref i);
        _moves.Clear();
        StagedBytes = 0;
        for (int i = 0; i < _open.Length; i++)
        {
            ref OpenSegment open = ref _open[i];
            GiveBuffer(ref open);
            if (open.Number != 0 && (open.IsFull || open.IsBad || seal))
                Seal(ref open); // also what failed: with nothing in it that counts it is free again
        }
        SealDead();
        return moved + Runs.TakeMoved();
    }

    /// <summary>
    /// Between rounds: seals what is open and has nothing that lives any more, so that it is free again. It waits for records of its namespace, of which
    /// none may ever come: FLUSHALL gives each database another.
    /// </summary>
    public void SealDead()
    {
        for (int i = 0; i < _open.Length; i++)
        {
            if (_open[i].Number != 0 && Volatile.Read(ref _segments[_open[i].Number]->Live) == 0)
                Seal(ref _open[i]);
        }
    }

    /// <summary>
    /// Between rounds: seals what is open and holds nothing but what has expired, or something that has been due for long, so that it can be swept.
    /// It may never be filled.
    /// </summary>
    public void SealDue(long nowMs)
    {
        for (int i = 0; i < _open.Length; i++)
        {
            if (_open[i].Number != 0 && _segments[_open[i].Number] is var segment
                && (segment->MaxExpiryMs <= nowMs || segment->MinExpiryMs <= nowMs - ColdCleaner.SweepPauseMs))
                Seal(ref _open[i]);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Runs.Dispose();
        foreach (OpenSegment open in _open) NativeMemory.AlignedFree(open.Buffer);
        foreach (nint buffer in _buffers) NativeMemory.AlignedFree((void*)buffer);
    }

    private void Seal(ref OpenSegment open)
    {
        _openCount--;
        _segments.Seal(open.Number);
        open.Number = 0;
    }

    // As long as a round: what is written is not looked at again.
    private void TakeBuffer(ref OpenSegment open)
    {
        _buffersInUse++;
        if (_buffers.TryPop(out nint kept))
            open.Buffer = (byte*)kept;
        else
        {
            open.Buffer = (byte*)NativeMemory.AlignedAlloc((nuint)_segments.SegmentBytes, ColdSegments.PageBytes);
            new Span<byte>(open.Buffer, _segments.SegmentBytes).Clear();
        }
        open.TakenAt = open.Written;
        if (open.Written == 0)
            ColdHead.Write(open.Buffer, open.Number, _segments[open.Number], _tier.Id);
    }

    // Empty again, so that what lies between records is zero.
    private void GiveBuffer(ref OpenSegment open)
    {
        if (open.Buffer == null)
            return;
        _buffersInUse--;
        if (_buffers.Count < BuffersKept)
        {
            new Span<byte>(open.Buffer + open.TakenAt, Math.Max(open.Used, open.Written) - open.TakenAt).Clear();
            _buffers.Push((nint)open.Buffer);
        }
        else
            NativeMemory.AlignedFree(open.Buffer);
        open.Buffer = null;
    }

    // The one with its namespace; else one that is free; else it shares.
    private ref OpenSegment OpenFor(ColdClass of, uint ns)
    {
        Span<OpenSegment> open = _open.AsSpan(of.Number * OpenPerClass, OpenPerClass);
        int free = -1, shared = -1;
        for (int i = 0; i < open.Length; i++)
        {
            if (open[i].Number == 0)
                free = free < 0 ? i : free;
            else if (open[i].Namespace == ns)
                return ref open[i];
            else if (shared < 0 || i == ns % OpenPerClass)
                shared = i;
        }
        return ref open[free >= 0 && (shared < 0 || _openCount < _openMax) ? free : shared];
    }

    private static int PlaceIn(in OpenSegment open, ColdClass of, int bytes)
    {
        int at = (open.Used + ColdAddress.UnitBytes - 1) & ~(ColdAddress.UnitBytes - 1);
        int pageEnd = (at | (ColdSegments.PageBytes - 1)) + 1;
        return of.Band != 0 || at + bytes <= pageEnd ? at : pageEnd;
    }

    private bool TryOpen(ref OpenSegment open, ColdClass of, uint ns)
    {
        uint number = _goesDown ? 0 : Take(_segments.Parts[0], of);
        if (number == 0)
            number = Take(_segments.Bottom, of);
        if (number == 0)
            return false;
        _openCount++;
        open.Number = number;
        open.Namespace = ns;
        open.Used = HeaderBytes;
        open.Written = 0;
        open.IsBad = open.IsFull = false;
        return true;
    }

    private uint Take(ColdSegments part, ColdClass of) => MayTakeReserve || part.Free > _tier.ReserveOf(part) ? part.Take(of) : 0;

    // Pages are written once: what follows begins with the next one.
    private void Write(ref OpenSegment open)
    {
        if (open.Number == 0 || open.IsBad)
            return;
        int end = (open.Used + ColdSegments.PageBytes - 1) & ~(ColdSegments.PageBytes - 1);
        if (end == open.Written || (open.Written == 0 && open.Used == HeaderBytes))
            return;
        int bytes = end - open.Written;
        int error = _tier.Write(open.Number, open.Written, open.Buffer + open.Written, bytes);
        open.IsBad = error != 0;
        _segments[open.Number]->End = open.IsBad ? 0 : ColdEnd.MarkOf(open.Buffer + end - ColdSegments.PageBytes);
        _hasFailed |= open.IsBad;
        open.Written = open.Used = end;
    }

    // Several moves of one partition in one lock hold (store.U5).
    private int Commit(ref int next)
    {
        int number = _moves[next].Partition, moved = 0;
        Partition* partition = _core.Shape->Partitions + number;
        Partition.Enter(partition);
        for (int left = MovesPerHold; left > 0 && next < _moves.Count && _moves[next].Partition == number; left--, next++)
        {
            if (TryMove(partition, _moves[next]))
                moved++;
        }
        Partition.Exit(partition);
        return moved;
    }

    // store.C1
    private bool TryMove(Partition* partition, in ColdMove move)
    {
        byte* bucket = Shape.BucketOf(_core.Shape, partition, move.Hash);
        ulong* slot = IsWritten(move.To) ? FindWord(partition, bucket, move.From) : null;
        bool isCold = IndexWord.IsCold(move.From);
        byte* record = _core.Shape->Base + IndexWord.Offset(move.From);
        if (slot == null || (!isCold && !StoreTestHooks.Has(PlantedFault.DemoteUnseen)
            && (IndexWord.Frequency(*slot) != 0 || !ColdRecord.IsSame(record, (byte*)move.Image, move.Bytes))))
        {
            _segments.Died(move.To);
            _tier.Count(TierCount.Stillborn);
            return false;
        }
        move.Commit(_core, partition, bucket, slot);
        return true;
    }

    private bool IsWritten(ulong word)
    {
        uint number = _segments.NumberOf(word);
        foreach (ref readonly OpenSegment open in _open.AsSpan())
        {
            if (open.Number == number)
                return !open.IsBad;
        }
        return true;
    }

    /// <summary>The slot whose word is the one looked for, whatever its frequency; under the lock.</summary>
    public static ulong* FindWord(Partition* partition, byte* bucket, ulong word)
    {
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot != 0 && IndexWord.Same(*walk.Slot, word))
                return walk.Slot;
        }
        return null;
    }

    private struct OpenSegment
    {
        public byte* Buffer;
        public uint Number;
        /// <summary>The namespace of its first record.</summary>
        public uint Namespace;
        /// <summary>Bytes that records have; those that are on the medium, whole pages; those that were when it got its buffer.</summary>
        public int Used, Written, TakenAt;
        /// <summary>The medium did not write it; a record did not fit any more.</summary>
        public bool IsBad, IsFull;
    }
}
