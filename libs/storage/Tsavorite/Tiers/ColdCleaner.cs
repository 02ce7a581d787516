using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Rewrites sealed segments: those with few live records so that their room comes back (compaction), those with expired ones, and, where the policy
/// allows it and nothing else helps, the oldest, or those whose records expire next, whose live records are given up too unless somebody has read them (eviction).
/// A segment is read once, as a whole; live records are copied within the tier, never into memory.
/// </summary>
internal sealed unsafe partial class ColdCleaner : IDisposable
{
    /// <summary>Compaction pays up to this share of live records; above it, moving costs more than it wins.</summary>
    private const double LiveShareMax = 0.9;

    /// <summary>How often a segment is read for what has expired in it, while something there has not.</summary>
    public const long SweepPauseMs = 60_000;
    private const long RestMs = 1000;
    private const long IsWithDevice = long.MaxValue; // instead of the moment at which a segment was rewritten
    private const int CloseMs = 1000;
    private const int SparedPart = 2; // at most so much of a segment is kept that is to give room
    private const int OwedMax = 3; // each has cost its turn the whole time that a read has
    private readonly StoreCore _core;
    private readonly ColdTier _tier;
    private readonly ColdLayers _segments;
    private readonly ColdWriter _upper, _lower;
    private ColdWriter _writer;
    private readonly IMediumReader _reader;
    // Of the segments that the device has not brought, by the token of the read: each has its buffer (store.C12), and the others are rewritten beside them.
    private readonly (uint Number, NativeArray<byte> Memory)[] _owed = new (uint, NativeArray<byte>)[OwedMax + 1];
    private NativeArray<byte> _memory;
    private byte* _buffer;
    private volatile bool _mayRemove;
    private long _spareBytes; // of a segment that is given up, what may be kept

    /// <summary>False while nothing may be removed but by its owner: neither because its time has come nor for room.</summary>
    public bool MayRemove
    {
        get => _mayRemove;
        set => _mayRemove = value;
    }

    /// <summary>From any thread: a round that is under way removes nothing more once this has returned.</summary>
    public void StopRemoving()
    {
        _mayRemove = false;
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            Partition.Enter(_core.Shape->Partitions + i); // it looks while it has the lock, so that this one is removed, or none is
            Partition.Exit(_core.Shape->Partitions + i);
        }
    }

    /// <summary>What stays in its part of the tier is written by that part's writer; both are one where there is one part.</summary>
    public ColdCleaner(StoreCore core, ColdTier tier, ColdWriter upper, ColdWriter lower)
    {
        _core = core;
        _tier = tier;
        _segments = tier.Segments;
        (_upper, _lower, _writer) = (upper, lower, lower);
        _reader = tier.Medium.OpenReader(OwedMax + 1, ReaderWake.None);
        _memory = new NativeArray<byte>(_segments.SegmentBytes, ColdSegments.PageBytes);
        _buffer = _memory.Items;
    }

    /// <summary>Moves the live records of the segment that has the fewest together with others'; false if none is worth it.</summary>
    public bool Compact(ColdSegments part, long nowMs)
    {
        double shareMax = part == _segments.Bottom ? LiveShareMax : LiveShareMaxAbove;
        return Rewrite(part.Best((segment, now) =>
            GivesRoom(segment, now) && LiveShare(segment) is var share && share <= shareMax ? 1 - share : 0, nowMs), Keep, nowMs);
    }

    /// <summary>As many segments as <see cref="Compact"/> may win of the part, some only once a snapshot has let go of them; a walk.</summary>
    public double Winnable(ColdSegments part) =>
        part.Sum((segment, _) => LiveShare(segment) is var share && share <= LiveShareMax ? 1 - share : 0, nowMs: 0);

    /// <summary>Removes what has expired from a segment that has something; false if none has.</summary>
    public bool Sweep(long nowMs)
    {
        bool swept = false;
        foreach (ColdSegments part in _segments.Parts)
            swept |= Rewrite(part.Best(static (segment, now) => IsDue(segment, now) ? 1 : 0, nowMs), Judge, nowMs);
        return swept;
    }

    /// <summary>Gives up the records of a segment that the policy allows to; false if there is none.</summary>
    public bool Evict(EvictionPolicy policy, long nowMs)
    {
        if (policy == EvictionPolicy.NoEviction)
            return false;
        ColdSegments bottom = _segments.Bottom;
        _spareBytes = policy.Rule().SparesRead ? _segments.SegmentBytes / SparedPart : 0;
        bool won = policy.IsVolatile()
            ? Rewrite(bottom.Best((segment, now) => GivesRoom(segment, now) ? Nearness(segment, now) : 0, nowMs), DropVolatile, nowMs)
            : Rewrite(bottom.Best((segment, now) => GivesRoom(segment, now) ? Age(segment) : 0, nowMs), Drop, nowMs);
        _spareBytes = 0;
        return won;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Dispose();
        TakeOwed();
        for (long endUs = _tier.NowUs + (CloseMs * 1000L); Owes && _tier.NowUs < endUs; TakeOwed()) _reader.Wait(CloseMs);
        if (!Owes)
            _reader.Dispose(); // else what it has stays its own
    }

    private bool Owes => Array.Exists(_owed, static one => one.Number != 0);

    private void TakeOwed()
    {
        Span<FinishedRead> finished = stackalloc FinishedRead[1];
        while (Owes && _reader.Take(finished) != 0) EndOwed((int)finished[0].Token);
    }

    private void EndOwed(int token)
    {
        (uint number, NativeArray<byte> memory) = _owed[token];
        _owed[token] = default;
        memory.Dispose();
        _segments[number]->SweptMs = 0;
        _segments.Unpin(number);
        _tier.EndOwed();
    }

    // One that was rewritten a moment ago, and is still there, has nothing to win now: it could not be read, or what is left of it stays.
    private static bool IsRested(ColdSegment* segment, long nowMs) =>
        segment->SweptMs != IsWithDevice && !Elapsed.IsWithin(nowMs, segment->SweptMs, RestMs);

    // What a snapshot names is free only once the next ones are there: much of it is not made before they are.
    private bool GivesRoom(ColdSegment* segment, long nowMs) =>
        IsRested(segment, nowMs) && (segment->Names == 0 || !TierNames.WaitsFor(_segments));

    // What has lain there for longest is given up first: what is worth moving together, as little of it is live, was looked for before.
    private static double Age(ColdSegment* segment) => 1.0 / (1 + segment->Opened);

    // What has least time left is given up first.
    private static double Nearness(ColdSegment* segment, long nowMs) =>
        segment->MinExpiryMs == long.MaxValue ? 0 : 1.0 / Math.Max(segment->MinExpiryMs - nowMs, 1);

    // Of its room: one that was sealed for a snapshot before it was full has less. Not so what a full one has left behind its last record, since the next did not fit: moved,
    // the same records would leave as much, again and again.
    private double LiveShare(ColdSegment* segment)
    {
        if (segment->Records == 0)
            return 0;
        long recordMax = segment->RecordMax != 0 ? segment->RecordMax : (long)ColdSegments.PageBytes << segment->Band;
        bool isFull = _segments.SegmentBytes - segment->Used < recordMax + ColdSegments.PageBytes; // pages are written once
        return (double)segment->Live / segment->Records * (isFull ? 1 : (double)segment->Used / _segments.SegmentBytes);
    }

    private static bool IsDue(ColdSegment* segment, long nowMs) =>
        IsRested(segment, nowMs) && segment->MinExpiryMs <= nowMs
            && (segment->MaxExpiryMs <= nowMs || !Elapsed.IsWithin(nowMs, segment->SweptMs, SweepPauseMs));

    private bool Rewrite(uint number, Func<nint, long, Fate> judge, long nowMs, bool sinks = false)
    {
        TakeOwed();
        int token = Array.FindIndex(_owed, static one => one.Number == 0);
        if (number == 0 || token < 0)
            return false;
        _segments.Pin(number);
        int before = Volatile.Read(ref _segments[number]->Live);
        _writer = sinks || _segments.Of(number) == _segments.Bottom ? _lower : _upper;
        _writer.MayTakeReserve = !sinks;
        bool isRead = Read(number, token);
        if (isRead && _segments[number]->Band == _segments.RunBand)
            WalkRun(number, judge, nowMs);
        else if (isRead)
            Walk(number, judge, nowMs);
        _writer.Flush(seal: false);
        _writer.MayTakeReserve = false;
        // What has sunk leaves a segment to be compacted at once: else others would sink for the room that it takes.
        // One that the device owes is left alone until it has come.
        _segments[number]->SweptMs = _owed[token].Number == number ? IsWithDevice : sinks && isRead ? nowMs - RestMs : nowMs;
        bool won = isRead && Volatile.Read(ref _segments[number]->Live) < before;
        _segments.Unpin(number);
        return won;
    }

    private bool Read(uint number, int token)
    {
        _reader.Begin((ulong)token, _segments.OffsetOf(number), _buffer, _segments.SegmentBytes);
        _reader.Submit();
        if (!TryTake(token, out int result))
        {
            _segments.Pin(number);
            _owed[token] = (number, _memory);
            _memory = new NativeArray<byte>(_segments.SegmentBytes, ColdSegments.PageBytes);
            _buffer = _memory.Items;
            _tier.BeginOwed(_tier.PlaceOf(number));
            return false;
        }

        _tier.Count(TierCount.SegmentReads);
        if (result == _segments.SegmentBytes)
            return true;
        _tier.CountFailure(number, result < 0 ? -result : Garnet.Common.Linux.Libc.EIO);
        return false;
    }

    private bool TryTake(int token, out int result)
    {
        Span<FinishedRead> finished = stackalloc FinishedRead[1];
        long nowUs = _tier.NowUs, endUs = nowUs + (_tier.ReadTimeoutMs * 1000);
        for (result = 0; ; nowUs = _tier.NowUs)
        {
            if (_reader.Take(finished) != 0)
            {
                result = finished[0].Result;
                if (finished[0].Token == (ulong)token)
                    return true;
                EndOwed((int)finished[0].Token);
            }
            else if (nowUs >= endUs)
            {
                return false;
            }
            else
            {
                _reader.Wait((int)Math.Min((endUs - nowUs + 999) / 1000, int.MaxValue));
            }
        }
    }

    private void Walk(uint number, Func<nint, long, Fate> judge, long nowMs)
    {
        ColdSegment* segment = _segments[number];
        long earliest = long.MaxValue, start = _segments.OffsetOf(number);
        int recordMax = segment->RecordMax == 0 ? segment->Used : segment->RecordMax;
        // Nothing more in this page: what follows begins with the next. Where many records cross the ends of pages, it may begin anywhere behind a damaged one.
        int step = segment->RecordMax == 0 ? ColdSegments.PageBytes : ColdAddress.UnitBytes;
        for (int at = ColdHead.Bytes, end; at < segment->Used; at = end)
        {
            int room = Math.Min(segment->Used - at, recordMax);
            bool isRecord = ColdRecord.TryMeasure(_buffer + at, room, _segments.PlaceOf(start + at), out int bytes);
            end = isRecord ? (at + bytes + ColdAddress.UnitBytes - 1) & ~(ColdAddress.UnitBytes - 1) : (at | (step - 1)) + 1;
            if (!isRecord)
                continue;
            // Whose time has come stays where nothing may be removed now, and is looked for again.
            bool stays = Settle(number, at, judge, nowMs);
            if (stays && Record.ExpireAtMs(_buffer + at) is > 0 and var expireAtMs && (expireAtMs > nowMs || !_mayRemove))
                earliest = Math.Min(earliest, expireAtMs);
        }
        segment->MinExpiryMs = earliest;
    }

    // A run has one record, and nothing is won by moving it within its part. Of that the first segment says all that is asked for here.
    private void WalkRun(uint number, Func<nint, long, Fate> judge, long nowMs)
    {
        const int At = ColdSegments.PageBytes;
        ColdSegment* segment = _segments[number];
        ColdPlace place = _segments.PlaceOf(_segments.OffsetOf(number) + At);
        segment->MinExpiryMs = long.MaxValue;
        if (!ColdHead.HoldsRun(_buffer, _buffer + At, segment->Used - At, place))
            return;
        Fate JudgeWhole(nint image, long now) => judge(image, now) is var fate && fate is Fate.Move ? Fate.Stay : fate;
        if (Settle(number, At, JudgeWhole, nowMs) && Record.ExpireAtMs(_buffer + At) is > 0 and var expireAtMs)
            segment->MinExpiryMs = expireAtMs;
    }

    // True if it stays where it is, or moves.
    private bool Settle(uint number, int at, Func<nint, long, Fate> judge, long nowMs)
    {
        byte* image = _buffer + at;
        KeyRef key = _core.KeyOf(image);
        Partition* partition = Shape.PartitionOf(_core.Shape, key.Hash);
        ulong word = ColdAddress.Word(Shape.TagOf(_core.Shape, key.Hash), _segments.OffsetOf(number) + at);
        Fate fate = judge((nint)image, nowMs);
        bool staged = false, isFull = false;
        while (!staged && !isFull)
        {
            Partition.Enter(partition);
            byte* bucket = Shape.BucketOf(_core.Shape, partition, key.Hash);
            ulong* slot = FindAddress(partition, bucket, word);
            if (fate is Fate.Expire or Fate.Evict or Fate.Spare && !_mayRemove)
                fate = Fate.Stay;
            if (slot != null && fate == Fate.Evict && Spares(slot, image))
                fate = ColdRecord.BytesOf(image) > _segments.RecordBytesMax ? Fate.Stay : Fate.Spare;
            Target target = new() { Partition = partition, Bucket = bucket, Slot = slot, Record = image };
            staged = slot == null || Apply(fate, target, key, out isFull);
            Partition.Exit(partition);
            if (!staged && !isFull)
                _writer.Flush(seal: false);
        }
        return fate is Fate.Stay or Fate.Move or Fate.Sink;
    }

    // Somebody has read it: it has its second chance, where not too much of the segment has.
    private bool Spares(ulong* slot, byte* image)
    {
        long bytes = ColdRecord.BytesOf(image), taken = bytes > _segments.RecordBytesMax ? 0 : bytes;
        if (_spareBytes == 0 || taken > _spareBytes || !TryKeep(slot))
            return false;
        _spareBytes -= taken;
        return true;
    }

    // False if the writer takes no more as things are.
    private bool Apply(Fate fate, in Target target, in KeyRef key, out bool isFull)
    {
        isFull = false;
        switch (fate)
        {
            case Fate.Stay: return true;
            case Fate.Move: return _writer.TryStage(target.Partition, key.Hash, *target.Slot, target.Record, out isFull);
            case Fate.Sink when TryKeep(target.Slot): return true;
            case Fate.Sink when ColdRecord.BytesOf(target.Record) > _segments.RecordBytesMax:
                _writer.Runs.TryBeginSink(target.Partition, key.Hash, *target.Slot, target.Record);
                return true;
            case Fate.Sink: return _writer.TryStage(target.Partition, key.Hash, *target.Slot, target.Record, out isFull);
            case Fate.Expire: _tier.Count(TierCount.Expired); break;
            case Fate.Spare when _writer.TryStage(target.Partition, key.Hash, *target.Slot, target.Record, out isFull): return true;
            case Fate.Spare when !isFull: return false;
            default: _tier.Count(TierCount.Evicted); break;
        }
        isFull = false;
        KeyChange change = fate == Fate.Expire ? KeyChange.Expired : KeyChange.Evicted;
        _core.RemoveColdUnasked(target.Partition, target.Bucket, target.Slot, key, target.Record, change);
        return true;
    }

    private static ulong* FindAddress(Partition* partition, byte* bucket, ulong word)
    {
        const ulong Place = IndexWord.AddressMask | IndexWord.TierMask;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot != 0 && ((*walk.Slot ^ word) & Place) == 0)
                return walk.Slot;
        }
        return null;
    }

    private static bool IsChunk(nint image) => Record.Kind((byte*)image) == RecordKind.Chunk;

    private Fate Keep(nint image, long nowMs) => IsExpired(image, nowMs) ? Fate.Expire : Fate.Move;

    private Fate Judge(nint image, long nowMs) => IsExpired(image, nowMs) ? Fate.Expire : Fate.Stay;

    // What belongs to a larger whole goes with that only; its segment is rewritten all the same.
    private Fate Drop(nint image, long nowMs) =>
        IsExpired(image, nowMs) ? Fate.Expire : IsChunk(image) ? Fate.Move : Fate.Evict;

    private Fate DropVolatile(nint image, long nowMs) =>
        Record.ExpireAtMs((byte*)image) == 0 ? Fate.Stay : Drop(image, nowMs);

    private bool IsExpired(nint image, long nowMs)
    {
        long expireAtMs = Record.ExpireAtMs((byte*)image);
        return MayRemove && expireAtMs > 0 && expireAtMs <= nowMs && !IsChunk(image);
    }

    // What becomes of a live record.
    private enum Fate
    {
        Stay,
        Move,
        /// <summary>It goes on to the disk, if nobody has read it.</summary>
        Sink,
        Expire,
        Evict,
        /// <summary>It moves, or is evicted if there is no room for it.</summary>
        Spare,
    }
}
