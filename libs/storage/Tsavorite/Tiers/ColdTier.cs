using System.Collections.Concurrent;
using System.Diagnostics;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Where records go that nobody reads: segments on a medium, whose index words stay in memory. Without an id what lies there is scratch, and a start begins
/// with an empty tier; with one snapshots name sealed segments, and a start goes on with them (store.C9, <see cref="TierNames"/>).
/// store.C1: until the index word names the cold copy, under the partition's lock, the record in memory is the truth. A record that has changed
/// since it was copied stays, and its copy is dead. Of one that is copied in several holds of the lock its extent tells whether it has (<see cref="ColdRunWriter"/>).
/// Beside it: <see cref="ColdSegments"/> (store.C2, store.C10), <see cref="ColdReads"/> (store.C3, store.C4), <see cref="TierMovers"/> (store.C6), <see cref="PromotionGate"/> (store.C8),
/// <see cref="DeviceReads"/> (store.C12), <see cref="CleanCopy"/> (store.C13), <see cref="StepWaits"/> (store.C14).
/// store.C5: a cold record is never changed where it lies: whoever changes it has it in memory first. Who removes it, or puts another in its place whatever it was, needs none of it
/// (<see cref="ColdSwitch"/>).
/// store.C7: what a step cannot read leaves the value as it was: an edit that has changed a part of it is taken back (<see cref="BeforeImages"/>).
/// store.C11: a step that removes a key or sets all of it (<see cref="IModify.IsBlind"/>) takes what is damaged for its key's by the bits of the hash that the index has, and gives it up;
/// that is counted and told. What a device does not read at the moment is nobody's to give up.
/// </summary>
internal sealed class ColdTier : IDisposable
{
    /// <summary>One for all: what is missing is noted in the session.</summary>
    public static readonly ColdMissException Miss = new();

    // Parts of all segments, but for those of Min. Where snapshots name segments a sixteenth is for compaction, and it begins a sixteenth before: with half as much a tier that lived by seven
    // tenths, and was overwritten everywhere, needed twice as many snapshots. Elsewhere what is emptied is free at once.
    private const int ReserveMin = 2, ReservePart = 16, AheadPart = 16, FreePart = 16, FreePartOfScratch = 32, FreeMin = 6;
    private readonly long[] _counts = new long[(int)TierCount.Length];
    private readonly long[] _readsByTime = new long[TierFigures.TimeBuckets];
    private readonly Lock _owing = new();
    private readonly ConcurrentQueue<ColdReads> _closing = new();
    private readonly Func<long>? _monotonicUs;
    private long _passedBytes, _passedBefore, _writeFromUs;
    private long _readTimeoutMs = Store.TierReadTimeoutMs;
    private int _owed;
    private long _atHand;
    private static readonly long TicksPerUs = Stopwatch.Frequency / 1_000_000; // Linux counts nanoseconds

    /// <param name="medium">What it lies on.</param>
    /// <param name="segmentBytes">Bytes of a segment.</param>
    /// <param name="id">What tells its content from all others'.</param>
    /// <param name="monotonicUs">The clock that tells how long a device takes; null: the system's.</param>
    public ColdTier(IMedium medium, int segmentBytes, MediumId id, Func<long>? monotonicUs = null)
    {
        _monotonicUs = monotonicUs;
        Medium = medium;
        Id = id;
        Names = id.IsNone ? null : new TierNames(this);
        Segments = new ColdLayers(medium.Parts, segmentBytes);
        Gate = new PromotionGate(this);
    }

    /// <summary>Which of those that are read come back.</summary>
    public PromotionGate Gate { get; }

    /// <summary>What fetched records took.</summary>
    public HeapTrim Heap { get; } = new();

    /// <summary>How much may be written.</summary>
    public WriteBudget Budget { get; } = new();

    /// <summary>See <see cref="Store.LimitTierWrites"/>.</summary>
    public void LimitWrites(long perSecond, long perDay) => Budget.Limit(perSecond, perDay);

    /// <summary>Sessions whose steps are put off for it.</summary>
    public int Sessions { get; init; } = 1;

    /// <summary>Memory that the process may have in all, bytes.</summary>
    public long ProcessBytesMax { get; init; } = long.MaxValue;

    /// <summary>Memory that it has, bytes; null: nobody says.</summary>
    public Func<long>? ResidentBytes { get; init; }

    /// <summary>
    /// How much of it may be in memory beside a limit of so many bytes, which the process itself exceeds by a tenth and 64 MiB (the most that was measured). 0, no limit, which is
    /// so while a start loads: as before.
    /// </summary>
    public void LimitReads(long memoryLimitBytes)
    {
        if (memoryLimitBytes == 0)
            return;
        long beside = Math.Max(ProcessBytesMax - (memoryLimitBytes / 10 * 11) - (64 << 20), 32 << 20);
        KeptBytesMax = Math.Clamp(memoryLimitBytes / 16, 4 << 20, 64 << 20);
        LongBytesMax = memoryLimitBytes / 2;
        GatheredBytesMin = Math.Clamp(beside / (1 + Copies), 4 << 20, 16 << 20);
        GatheredBytesMax = Math.Min(Math.Max(memoryLimitBytes, 64 << 20), beside / (1 + Copies));
        HeldBytesMax = Math.Clamp(Math.Min(memoryLimitBytes, beside) / 2 / Sessions, GatheredBytesMin, 256 << 20);
    }

    /// <summary>Bytes of fetched records that a session keeps for a moment, at most.</summary>
    public long KeptBytesMax = 64 << 20;

    /// <summary>Bytes of fetched records in one segment that stay for the step of a session that has waited for longest, at most: a walk that needs more is waited for in place.</summary>
    public long HeldBytesMax { get; private set; } = 256 << 20;

    /// <summary>Bytes of records in several segments that one step may need together, where it needs more than one: half of what memory may hold.</summary>
    public long LongBytesMax { get; private set; } = long.MaxValue;

    /// <summary>
    /// Bytes of records in one segment that all sessions may have at hand while a step waits where it stands: what they lie in stays until it has run. One that comes to more would
    /// take the machine's memory in the end, and fails, if it is among those that have gathered much (<see cref="GatheredBytesMin"/>).
    /// </summary>
    public long GatheredBytesMax { get; private set; } = long.MaxValue;

    // Of what a command gathers: as it makes something of it, and twice while its reply grows.
    private const int Copies = 3;
    private const long AlwaysGathered = 1 << 20, Spare = 16 << 20;

    /// <summary>So many each step may gather, whatever others have.</summary>
    public long GatheredBytesMin { get; private set; } = 16 << 20;

    /// <summary>True if a command that has gathered so much gets no more: all together have too much, or the process would be ended by the kernel once this one copies it.</summary>
    public bool IsTooMuch(long gathered)
    {
        if (AtHandBytes > GatheredBytesMax && gathered > GatheredBytesMin)
            return true;
        if (gathered <= AlwaysGathered || ResidentBytes is null || !IsNearEnd(gathered))
            return false;
        Heap.Trim(); // what commands before have freed
        return IsNearEnd(gathered);
    }

    private bool IsNearEnd(long gathered) => ResidentBytes!() + (Copies * gathered) > ProcessBytesMax - Spare;

    /// <summary>Bytes of records in one segment that sessions have at hand, together.</summary>
    public long AtHandBytes => Volatile.Read(ref _atHand);

    /// <summary>A session has so many more.</summary>
    public void CountAtHand(long bytes) => Interlocked.Add(ref _atHand, bytes);

    /// <summary>Bytes that one step may ask for at a time: half of <see cref="KeptBytesMax"/>, as the step that is done again is to find all of them.</summary>
    public long AskedBytesMax => KeptBytesMax / 2;

    /// <summary>How long a read is waited for, milliseconds.</summary>
    public long ReadTimeoutMs
    {
        get => Volatile.Read(ref _readTimeoutMs);
        set => Volatile.Write(ref _readTimeoutMs, value);
    }

    /// <summary>Microseconds of a clock that never goes back.</summary>
    public long NowUs => _monotonicUs is null ? Stopwatch.GetTimestamp() / TicksPerUs : _monotonicUs();

    /// <summary>Reads that the device has not answered in time, and not yet since.</summary>
    public int Owed => Volatile.Read(ref _owed);

    /// <summary>Told of trouble; null: nobody.</summary>
    public ITierObserver? Observer;

    /// <summary>Who knows what values mean; null: nobody.</summary>
    public IValueCheck? ValueCheck { get; init; }

    public IMedium Medium { get; }

    /// <summary>What tells the medium's content from all others'; none: it is scratch.</summary>
    public MediumId Id { get; }

    /// <summary>Who names its segments; null: nobody ever does.</summary>
    public TierNames? Names { get; }
    public ColdLayers Segments { get; }

    /// <summary>
    /// Free segments that only compaction takes: it moves a segment's records before it has the segment's room. Where snapshots name segments it has the room only
    /// after the next two: the more it may move until then, the sooner a full tier that has much dead in it takes values again.
    /// </summary>
    public int ReserveOf(ColdSegments part) => Names is null ? ReserveMin : Math.Max(ReserveMin, part.Total / ReservePart);

    /// <summary>True if more of the part is free than is kept so.</summary>
    public bool HasRoom(ColdSegments part) => part.Free > RoomOf(part);

    /// <summary>
    /// store.C6 True if segments that are already on their way to be free lift the part above what is kept free, without moving anything more. Where snapshots
    /// name segments twice as much is asked for: a snapshot is taken for that much, and not for each segment. So many more as one record lacks.
    /// </summary>
    public bool HasRoomComing(ColdSegments part, int lacking = 0) => Comes(part, (RoomOf(part) * (Names is null ? 1 : 2)) + lacking);

    /// <summary>
    /// store.C6 True if the part has what is kept free once all that is dead is free: nothing that lives need be given up for room, and what a snapshot names would
    /// not be room before the next two anyway.
    /// </summary>
    public bool HasRoomOnceReleased(ColdSegments part, int lacking) =>
        Names is not { MayName: false } && Comes(part, RoomOf(part) + lacking);

    /// <summary>True if much of the part is dead and will be free: by itself, or once others are moved together, which wins so many segments more; a walk.</summary>
    public bool HasMuchComing(ColdSegments part, double winnable) =>
        part.Lingering + (Names is { MayName: false } ? 0 : part.Coming + winnable) > part.Total / FreePart;

    /// <summary>True if memory can be demoted to persistent memory, which nothing bounds the writing of.</summary>
    public bool HasRoomAbove => Segments.Memory is { } memory && memory.Free > ReserveOf(memory);

    /// <summary>What failed last, a read with its segment; null: nothing has.</summary>
    public volatile string? LastFailure;

    /// <summary>True if the segment that the word's record lies in has that life still: nothing else was written there.</summary>
    public unsafe bool IsOfLife(ulong word, ulong life) =>
        Volatile.Read(ref Segments[Segments.NumberOf(word)]->Life) == life || StoreTestHooks.Has(PlantedFault.BelieveReused);

    /// <summary>The namespace of the word's record where all of its segment have the same, else negative.</summary>
    public unsafe long NamespaceOf(ulong word) => Volatile.Read(ref Segments[Segments.NumberOf(word)]->Namespace);

    /// <summary>False if the word's record is of another namespace for certain.</summary>
    public bool MayHold(ulong word, uint ns) => NamespaceOf(word) is var of && (of == ColdSegment.MixedNamespaces || of == ns);

    /// <summary>No part of a record in memory, whose partition is locked, expires on its own before that moment.</summary>
    public unsafe long TimedFromMs(byte* record) => ValueCheck is not { } check ? 0
        : check.TimedPartsFrom(Record.Kind(record), new ReadOnlySpan<byte>(Record.Value(record), Record.ValueBytes(record)));
    /// <summary>True if the word's record lies in persistent memory.</summary>
    public bool IsInMemory(ulong word) => Segments.IsInMemory(Segments.NumberOf(word));

    /// <summary>No part of the record of the word expires on its own before that moment.</summary>
    public unsafe long TimedFromMs(ulong word) => Volatile.Read(ref Segments[Segments.NumberOf(word)]->TimedFromMs);

    public long Count(TierCount what, long by = 1) => Interlocked.Add(ref _counts[(int)what], by);

    /// <summary>Makes all counts begin at zero now; what is under way is counted when it ends.</summary>
    public void ResetCounts()
    {
        for (int i = 0; i < _counts.Length; i++) Volatile.Write(ref _counts[i], 0);
        for (int i = 0; i < _readsByTime.Length; i++) Volatile.Write(ref _readsByTime[i], 0);
        LastFailure = null;
    }

    /// <summary>A record was read, in so long from when the device was given it until it was taken.</summary>
    public void CountRead(long bytes, long microseconds)
    {
        Count(TierCount.Reads);
        Count(TierCount.ReadBytes, bytes);
        int bits = 64 - System.Numerics.BitOperations.LeadingZeroCount((ulong)Math.Max(microseconds, 0));
        Interlocked.Increment(ref _readsByTime[Math.Min(bits, TierFigures.TimeBuckets - 1)]);
    }

    /// <summary>A command has waited for reads where it stood, and all clients of its core with it.</summary>
    public void CountWait(long microseconds)
    {
        Count(TierCount.Waits);
        Count(TierCount.WaitedMicros, microseconds);
    }

    /// <summary>A record was looked at where it lies.</summary>
    public void CountPlaced()
    {
        Count(TierCount.Reads);
        Count(TierCount.MemoryReads);
    }

    /// <summary>Bytes that went from memory to the disk past persistent memory since there is a new snapshot.</summary>
    public long PassedBytes => Volatile.Read(ref _passedBytes) - Volatile.Read(ref _passedBefore);

    /// <summary>There is a new snapshot.</summary>
    public void BeginPassed() => Volatile.Write(ref _passedBefore, Volatile.Read(ref _passedBytes));

    /// <summary>A record has moved: from memory, from persistent memory to the disk, or within its part.</summary>
    public void CountMove(in ColdMove move)
    {
        (TierCount records, TierCount bytes) = !IndexWord.IsCold(move.From) ? (TierCount.Demoted, TierCount.DemotedBytes)
            : Segments.IsInMemory(Segments.NumberOf(move.From)) && !Segments.IsInMemory(Segments.NumberOf(move.To))
                ? (TierCount.MovedDown, TierCount.MovedDownBytes) : (TierCount.Compacted, TierCount.CompactedBytes);
        Count(records);
        Count(bytes, move.Bytes);
        if (move.IsClean)
        {
            Count(TierCount.DemotedClean);
            Count(TierCount.DemotedCleanBytes, move.Bytes);
        }
        else if (records == TierCount.Demoted && Segments.Memory is not null && !Segments.IsInMemory(Segments.NumberOf(move.To)))
            Interlocked.Add(ref _passedBytes, move.Bytes);
    }

    /// <summary>What to do about a value that cannot be read.</summary>
    public string Remedy => Names is null ? "A restart begins with an empty tier, and has back what the log or a snapshot has"
        : "A restart has it back if the log behind the snapshot, or the snapshot itself, has it; "
            + "a value that is damaged makes place for DEL or SET of its key; else stop the server: "
            + "'garnet-server check' says how many there are, and 'garnet-server repair' what to do without them";

    /// <summary>A segment, as people are told of it.</summary>
    public string PlaceOf(uint number) => SegmentPlace.Of(number, Segments.SegmentBytes, Id);

    /// <summary>Where a record lies, as people are told of it.</summary>
    public string PlaceOf(ColdRead read) => SegmentPlace.At(ColdAddress.Offset(read.Word), Segments.SegmentBytes, Id);

    /// <summary>What whoever wanted the record is told; where nothing is wrong with that, what the command may do.</summary>
    public GarnetException Unreadable(ColdRead read)
    {
        int error = read.State == ColdReadState.Failed ? read.Error : Libc.ETIMEDOUT;
        return error switch
        {
            Libc.ENOMEM => Unmet("the command goes through more of the tier than memory could hold", "go through it in parts"),
            Libc.ECANCELED =>
                Unmet("the command has waited in place for too many others", "name fewer at a time, and to a script as its keys"),
            _ => new(ExitKind.Data, "a value cannot be read from the tier it lies on", WhyUnreadable(PlaceOf(read), error), Remedy),
        };
    }

    private static GarnetException Unmet(string what, string instead) => new(ExitKind.Data, what, instead, "");

    /// <summary>Why what lies there cannot be read; an error of 0: it is not what was written.</summary>
    public static string WhyUnreadable(string place, int error) =>
        $"{place}: {error switch
        {
            0 => "its checksum is wrong",
            Libc.ETIMEDOUT => "the device has not answered",
            _ => new System.ComponentModel.Win32Exception(error).Message,
        }}";

    /// <summary>A record could not be read, or was not what was written.</summary>
    public void CountFailure(ColdRead read, int error) => CountFailure(Segments.NumberOf(read.Word), PlaceOf(read), error);

    /// <summary>A segment could not be read.</summary>
    public void CountFailure(uint number, int error) => CountFailure(number, PlaceOf(number), error);

    private unsafe void CountFailure(uint number, string place, int error)
    {
        Volatile.Write(ref Segments[number]->IsDoubtful, 1);
        long failures = Count(TierCount.ReadFailures);
        string why = WhyUnreadable(place, error);
        LastFailure = why;
        if (System.Numerics.BitOperations.IsPow2(failures))
            Observer?.OnReadFailed(why, Remedy, failures);
    }

    /// <summary>The device has not answered a read in time. Whoever waited for it has an error, and it owes the read.</summary>
    public void BeginOwed(string place)
    {
        Count(TierCount.LateReads);
        string why = WhyUnreadable(place, Libc.ETIMEDOUT);
        LastFailure = why;
        lock (_owing)
        {
            if (_owed++ == 0)
                Observer?.OnOwing(why);
        }
    }

    /// <summary>It has answered one of them by now.</summary>
    public void EndOwed()
    {
        lock (_owing)
        {
            if (--_owed == 0)
                Observer?.OnOwing(null);
        }
    }

    /// <summary>A session is closed whose reads the device has: that goes on when it has given them back.</summary>
    public void CloseLater(ColdReads reads) => _closing.Enqueue(reads);

    /// <summary>Closes what can be closed by now. For one thread.</summary>
    public void CloseNow()
    {
        for (int left = _closing.Count; left > 0 && _closing.TryDequeue(out ColdReads? reads); left--)
        {
            if (!reads.TryClose(0))
                _closing.Enqueue(reads);
        }
    }

    /// <summary>What lies there, damaged, has made place for what a command has set or removed, by its key's hash (store.C11).</summary>
    public void CountGivenUp(string place)
    {
        long records = Count(TierCount.GivenUp);
        if (System.Numerics.BitOperations.IsPow2(records))
            Observer?.OnGivenUp(WhyUnreadable(place, 0), records);
    }

    /// <summary>Writes to a segment; returns 0, or the error number. By one thread.</summary>
    public unsafe int Write(uint number, long at, byte* from, int bytes)
    {
        Volatile.Write(ref _writeFromUs, NowUs);
        int error = Medium.Write(Segments.OffsetOf(number) + at, from, bytes);
        Volatile.Write(ref _writeFromUs, 0);
        CountWrite(number, bytes, error);
        return error;
    }

    /// <summary>So much was written to a segment, or was not.</summary>
    public void CountWrite(uint number, int bytes, int error)
    {
        if (error == 0)
        {
            if (!Segments.IsInMemory(number))
                Budget.Spend(bytes);
            Count(TierCount.WrittenBytes, bytes);
        }
        else
        {
            Count(TierCount.WriteFailures);
            LastFailure = error == Libc.ENOENT ? "its file was removed, or cut, while the server runs"
                : $"writing: {new System.ComponentModel.Win32Exception(error).Message}";
        }
    }

    /// <summary>Figures of the moment.</summary>
    public TierFigures Figures()
    {
        (long records, long bytes) = Segments.Live;
        return new()
        {
            Medium = Medium.Facts,
            SizeBytes = (long)Segments.Total * Segments.SegmentBytes,
            FreeBytes = (long)Segments.Free * Segments.SegmentBytes,
            LiveBytes = bytes,
            KeptBytes = Names?.WaitingBytes ?? 0,
            Records = records,
            Memory = MemoryPartFigures(),
            Reads = Of(TierCount.Reads),
            ReadBytes = Of(TierCount.ReadBytes),
            SegmentReads = Of(TierCount.SegmentReads),
            ReadFailures = Of(TierCount.ReadFailures),
            LateReads = Of(TierCount.LateReads),
            RefusedReads = Of(TierCount.RefusedReads),
            OwedReads = Owed,
            WriteMs = Volatile.Read(ref _writeFromUs) is not 0 and var from ? Math.Max((NowUs - from) / 1000, 1) : 0,
            WrittenBytes = Of(TierCount.WrittenBytes),
            WriteFailures = Of(TierCount.WriteFailures),
            HeldBack = Of(TierCount.HeldBack),
            Demoted = Of(TierCount.Demoted),
            DemotedBytes = Of(TierCount.DemotedBytes),
            DemotedClean = Of(TierCount.DemotedClean),
            DemotedCleanBytes = Of(TierCount.DemotedCleanBytes),
            Considered = Of(TierCount.Considered),
            RejectedOff = Of(TierCount.RejectedOff),
            RejectedFrequency = Of(TierCount.RejectedFrequency),
            RejectedHeadroom = Of(TierCount.RejectedHeadroom),
            RejectedHeld = Of(TierCount.RejectedHeld),
            Observed = Of(TierCount.Observed),
            Admitted = Of(TierCount.Admitted),
            Lost = Of(TierCount.Lost),
            Promoted = Of(TierCount.Promoted),
            PromotedBytes = Of(TierCount.PromotedBytes),
            Returned = Of(TierCount.Returned) + Of(TierCount.Requested),
            ReturnedBytes = Of(TierCount.ReturnedBytes),
            Stillborn = Of(TierCount.Stillborn),
            Compacted = Of(TierCount.Compacted),
            CompactedBytes = Of(TierCount.CompactedBytes),
            GivenUp = Of(TierCount.GivenUp),
            Evicted = Of(TierCount.Evicted),
            Expired = Of(TierCount.Expired),
            Postponed = Of(TierCount.Postponed),
            Waits = Of(TierCount.Waits),
            WaitedMicros = Of(TierCount.WaitedMicros),
            ReadsByTime = [.. _readsByTime],
            LastFailure = LastFailure,
        };
    }

    private TierMemoryFigures? MemoryPartFigures() => Segments.Memory is not { } memory ? null : new()
    {
        Medium = Medium.Parts[^1].Facts,
        SizeBytes = (long)memory.Total * memory.SegmentBytes,
        FreeBytes = (long)memory.Free * memory.SegmentBytes,
        Records = memory.Live.Records,
        Reads = Of(TierCount.MemoryReads),
        MovedDown = Of(TierCount.MovedDown),
        MovedDownBytes = Of(TierCount.MovedDownBytes),
        HasDisk = Segments.Disk is not null,
    };

    private static bool Comes(ColdSegments part, int room) =>
        room - part.Free - part.Coming is var lacks && (lacks < 0 || lacks < part.Lingering);

    // What is free is not used. Where no snapshot names segments, what is emptied is free at once, and less will do.
    private int RoomOf(ColdSegments part)
    {
        if (Names is not null)
            return ReserveOf(part) + (part.Total / AheadPart); // it begins before the writers have come to the reserve
        int room = part == Segments.Bottom
            ? Math.Min(part.Total / FreePart, Math.Max(part.Total / FreePartOfScratch, FreeMin)) : part.Total / FreePart;
        return Math.Max(room, ReserveOf(part));
    }

    /// <summary>How many there have been since counting began.</summary>
    public long Of(TierCount what) => Volatile.Read(ref _counts[(int)what]);

    /// <inheritdoc/>
    public void Dispose() => Segments.Dispose(); // the medium is its owner's
}
