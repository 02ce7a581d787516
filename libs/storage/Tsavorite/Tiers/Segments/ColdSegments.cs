namespace Tsavorite;

/// <summary>
/// The segments of a part of a tier: which are free, how many live records each has, and who reads it. The first is never handed out: a file has its head
/// there, and no cold record lies at address 0.
/// store.C2: a segment is reused only after no index word names a record in it, nobody has it pinned, and no snapshot that runs has begun before
/// it died. Whoever reads without a lock pins first and then looks whether the word still stands.
/// store.C9: nor while a snapshot on disk names it that a start may load: what it names is read by nobody until then, and must be there.
/// store.C10: a record that no segment takes alone lies in a run of segments, linked behind the one it begins in, and in nothing else: all of them are taken
/// together, have one life, and are free again together. Words, pins and names are counted in the first.
/// </summary>
internal sealed unsafe class ColdSegments : IDisposable
{
    public const int SegmentBytesDefault = 1 << 20, SegmentBytesMin = 2 * PageBytes, SegmentBytesMax = 1 << 30, PageBytes = 4096;
    private readonly ColdTable _segments;
    private readonly int _shift;
    private readonly uint _first, _count; // the one that is not handed out, and the one behind the last
    private readonly Stack<uint> _free = new();
    private readonly List<uint> _held = [];
    private int _gate, _holders, _freeCount, _keptCount, _heldCount;
    private uint _fresh;
    private long _opened;

    public ColdSegments(long mediumBytes, int segmentBytes, long from = 0)
    {
        SegmentBytes = segmentBytes;
        _shift = System.Numerics.BitOperations.Log2((uint)segmentBytes);
        _first = (uint)(from >> _shift);
        _count = _first + (uint)Math.Max(Math.Min(mediumBytes, ColdAddress.BytesMax - from) >> _shift, 1);
        _fresh = _first + 1;
        _segments = new ColdTable(_first, _count - _first);
        Bands = BandsOf(segmentBytes);
    }

    public int SegmentBytes { get; }

    /// <summary>Longest record that a segment takes alone, and what each segment of a run but the last has of its record.</summary>
    public int RecordBytesMax => SegmentBytes - PageBytes;

    /// <summary>Bands of segments that records lie in which none takes more than one of.</summary>
    public int Bands { get; }

    /// <summary>The band of a segment that a run begins with.</summary>
    public int RunBand => Bands;

    /// <summary>The band of those behind it.</summary>
    public int FollowerBand => Bands + 1;

    /// <summary>Segments that may hold records.</summary>
    public int Total => (int)(_count - _first) - 1;

    /// <summary>The number before that of the first of these, and that of the last.</summary>
    public uint Before => _first;

    /// <inheritdoc cref="Before"/>
    public uint Last => _count - 1;

    /// <summary>Those that are free now.</summary>
    public int Free => Volatile.Read(ref _freeCount) + (int)(_count - Math.Min(_fresh, _count));

    /// <summary>Those that hold nothing but what snapshots on disk name.</summary>
    public int Kept => Volatile.Read(ref _keptCount);

    /// <summary>Those that hold nothing more that words name, and are not free yet: snapshots name them, or one that runs may read them.</summary>
    public int Coming => Kept + Volatile.Read(ref _heldCount);

    /// <summary>Those that nobody names any more, and that are free once nobody reads them; a walk.</summary>
    public int Lingering
    {
        get
        {
            int lingering = 0;
            for (uint number = _first + 1; number < Math.Min(Volatile.Read(ref _fresh), _count); number++)
            {
                ColdSegment* segment = _segments.Items + number;
                bool isDead = segment->State == ColdState.Sealed && Volatile.Read(ref segment->Live) == 0;
                lingering += isDead ? segment->Parts : 0;
            }
            return lingering;
        }
    }

    /// <summary>True as long as none was ever handed out.</summary>
    public bool IsUntouched => Volatile.Read(ref _fresh) == _first + 1;

    /// <summary>Live records in all of them, and their bytes, each taken to be as long as the others of its segment; a walk.</summary>
    public (long Records, long Bytes) Live
    {
        get
        {
            long records = 0;
            double bytes = 0;
            for (uint number = _first + 1; number < Math.Min(Volatile.Read(ref _fresh), _count); number++)
            {
                ColdSegment* segment = _segments.Items + number;
                int live = Volatile.Read(ref segment->Live);
                long used = segment->Parts > 1 ? (long)segment->Parts * SegmentBytes : segment->Used;
                records += live;
                bytes += segment->Records == 0 ? 0 : (double)live / segment->Records * used;
            }
            return (records, (long)bytes);
        }
    }

    /// <summary>Bytes of the table.</summary>
    public long TableBytes => (_count - _first) * (long)sizeof(ColdSegment);

    public ColdSegment* this[uint number] => _segments.Items + number;

    public uint NumberOf(ulong word) => (uint)(ColdAddress.Offset(word) >> _shift);

    public long OffsetOf(uint number) => (long)number << _shift;

    /// <summary>What is read for the record that a word names, whole pages, at the most.</summary>
    public long BytesMaxOf(ulong word)
    {
        ColdSegment* segment = _segments.Items + NumberOf(word);
        int skip = (int)(ColdAddress.Offset(word) & (PageBytes - 1)), recordMax = segment->RecordMax;
        return segment->Band >= RunBand ? (long)segment->Parts * SegmentBytes
            : recordMax == 0 ? BytesMaxOf(segment->Band) : (skip + recordMax + PageBytes - 1) & ~(PageBytes - 1);
    }

    /// <summary>The same of any record in a segment of that band that is no run's: from the page on that the record begins in.</summary>
    public static int BytesMaxOf(int band) => (PageBytes << band) + (band == 0 ? 0 : PageBytes);

    /// <summary>An empty segment for records of the class, or 0.</summary>
    public uint Take(ColdClass of)
    {
        SpinLatch.Enter(ref _gate);
        uint number = TakeOne();
        if (number != 0)
            Empty(_segments.Items + number, of.Band, of.RecordMax);
        SpinLatch.Exit(ref _gate);
        return number;
    }

    /// <summary>store.C10: the first of as many empty segments, or 0.</summary>
    public uint TakeRun(int parts)
    {
        SpinLatch.Enter(ref _gate);
        uint first = Free < parts ? 0 : TakeOne(), last = first;
        if (first != 0)
            Empty(_segments.Items + first, RunBand);
        for (int i = 1; first != 0 && i < parts; i++)
        {
            uint number = TakeOne();
            ColdSegment* follower = _segments.Items + number;
            Empty(follower, FollowerBand);
            follower->State = ColdState.Follows;
            follower->Life = _segments.Items[first].Life;
            _segments.Items[last].Next = number;
            last = number;
        }
        if (first != 0)
            _segments.Items[first].Parts = parts;
        SpinLatch.Exit(ref _gate);
        return first;
    }

    /// <summary>Segments that a record of that length lies in.</summary>
    public int PartsFor(long recordBytes) => (int)((recordBytes + RecordBytesMax - 1) / RecordBytesMax);

    /// <summary>
    /// The parts of the record that begins in a segment with that many, in its order; it is pinned. Where the word was of the past all the same, what is read
    /// there is not a record.
    /// </summary>
    public ColdPart[] RunOf(uint first, int parts)
    {
        List<ColdPart> run = [];
        for (uint number = first; number != 0 && run.Count < parts; number = Volatile.Read(ref _segments.Items[number].Next))
        {
            int used = Math.Clamp(Volatile.Read(ref _segments.Items[number].Used), PageBytes + 1, SegmentBytes);
            run.Add(new ColdPart(OffsetOf(number) + PageBytes, used - PageBytes));
        }
        return [.. run];
    }

    /// <summary>How many bands there are in segments of a size.</summary>
    public static int BandsOf(int segmentBytes) => System.Numerics.BitOperations.Log2((uint)(segmentBytes / PageBytes)) + 1;

    /// <summary>A record was put into the segment, which is open; it counts as live.</summary>
    public void Note(uint number, uint ns, long expireAtMs, int used)
    {
        ColdSegment* segment = _segments.Items + number;
        segment->Used = used;
        segment->Records++;
        Interlocked.Increment(ref segment->Live);
        if (segment->Namespace == ColdSegment.NoNamespace)
            segment->Namespace = ns;
        else if (segment->Namespace != ns)
            Volatile.Write(ref segment->Namespace, ColdSegment.MixedNamespaces);
        if (expireAtMs != 0)
            segment->MinExpiryMs = Math.Min(segment->MinExpiryMs, expireAtMs);
        segment->MaxExpiryMs = expireAtMs == 0 ? long.MaxValue : Math.Max(segment->MaxExpiryMs, expireAtMs);
    }

    /// <summary>A word is about to name a record with parts that expire on their own, none before that moment; its partition is locked.</summary>
    public void NameTimed(ulong word, long fromMs)
    {
        ColdSegment* segment = _segments.Items + NumberOf(word);
        SpinLatch.Enter(ref _gate);
        segment->TimedNamed++;
        Volatile.Write(ref segment->TimedFromMs, Math.Min(segment->TimedFromMs, fromMs));
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>All that lies in the segment was looked at, as it was then: no part of it expires on its own before that moment.</summary>
    public void LearnTimed(uint number, ulong life, int named, long fromMs)
    {
        ColdSegment* segment = _segments.Items + number;
        SpinLatch.Enter(ref _gate);
        if (segment->Life == life && segment->TimedNamed == named)
            Volatile.Write(ref segment->TimedFromMs, fromMs);
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>Notes the longest record of a segment, which its head has told; nothing if the segment has another life by now.</summary>
    public void LearnRecordMax(uint number, ulong life, int recordMax)
    {
        ColdSegment* segment = _segments.Items + number;
        SpinLatch.Enter(ref _gate);
        if (segment->State != ColdState.Free && segment->Life == life && segment->Band == 1)
            segment->RecordMax = (short)recordMax;
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>The segment is full, or cannot be written.</summary>
    public void Seal(uint number)
    {
        SpinLatch.Enter(ref _gate);
        _segments.Items[number].State = ColdState.Sealed;
        FreeIfUnused(number);
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>No index word names the record any more, or none ever did.</summary>
    public void Died(ulong word)
    {
        uint number = NumberOf(word);
        int left = Interlocked.Decrement(ref _segments.Items[number].Live);
        Garnet.Common.Faults.Check.That(left >= 0, "store.C2 a cold record dies once");
        if (left == 0)
            Review(number);
    }

    /// <summary>
    /// store.C13: true if a record that has died in that use of the segment may be named there again; it counts as live then. Its partition is locked. What is free, or waits to be,
    /// is not taken back. Nor is one whose expiry the segment does not know any more.
    /// </summary>
    public bool TryRevive(uint number, uint uses, long expireAtMs)
    {
        SpinLatch.Enter(ref _gate);
        bool revives = IsToBeRevived(number, uses, expireAtMs);
        if (revives)
            Interlocked.Increment(ref _segments.Items[number].Live);
        SpinLatch.Exit(ref _gate);
        return revives;
    }

    /// <summary>The same without the gate: a guess that costs nothing.</summary>
    public bool IsToBeRevived(uint number, uint uses, long expireAtMs)
    {
        ColdSegment* segment = _segments.Items + number;
        bool isSame = segment->Uses == uses || StoreTestHooks.Has(PlantedFault.ReviveReused);
        bool isSound = segment->State is ColdState.Sealed or ColdState.Open && segment->End != 0 && segment->IsDoubtful == 0;
        return isSame && isSound && Volatile.Read(ref segment->Live) > 0
            && (expireAtMs == 0 || expireAtMs >= segment->MinExpiryMs);
    }

    /// <summary>The segment is not reused until <see cref="Unpin"/>.</summary>
    public void Pin(uint number) => Interlocked.Increment(ref _segments.Items[number].Pins);

    public void Unpin(uint number)
    {
        if (Interlocked.Decrement(ref _segments.Items[number].Pins) == 0 && Volatile.Read(ref _segments.Items[number].Live) == 0)
            Review(number);
    }

    /// <summary>Until <see cref="Release"/> no segment is reused.</summary>
    public void Hold()
    {
        SpinLatch.Enter(ref _gate);
        _holders++;
        SpinLatch.Exit(ref _gate);
    }

    public void Release()
    {
        SpinLatch.Enter(ref _gate);
        if (--_holders == 0)
        {
            foreach (uint number in _held)
            {
                _segments.Items[number].State = ColdState.Sealed;
                FreeIfUnused(number);
            }
            _held.Clear();
            _heldCount = 0;
        }
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>Segments as a snapshot has them, with its names (store.C9). Pinned; before anybody has records moved.</summary>
    public void Adopt(IReadOnlyDictionary<uint, SegmentRow> rows, SegmentRuns runs)
    {
        SpinLatch.Enter(ref _gate);
        uint[] free = _free.ToArray();
        _free.Clear();
        for (int i = free.Length - 1; i >= 0; i--)
        {
            if (!rows.ContainsKey(free[i]))
                _free.Push(free[i]);
        }
        uint end = Math.Max(_fresh, rows.Count == 0 ? 1 : rows.Keys.Max() + 1);
        for (uint number = _fresh; number < end; number++)
        {
            if (!rows.ContainsKey(number))
                _free.Push(number);
        }
        _fresh = end;
        _freeCount = _free.Count;
        foreach (SegmentRow row in rows.Values)
        {
            if (row.IsFollower(SegmentBytes))
                continue;
            ColdSegment* segment = _segments.Items + row.Number;
            if (segment->Names++ == 0)
                Adopt(row, rows, runs);
            else if (segment->State == ColdState.Kept)
            {
                _keptCount -= segment->Parts;
                segment->State = ColdState.Sealed;
            }
            segment->Pins++;
        }
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>True if the segment is, or may be made, what the row says.</summary>
    public bool Fits(in SegmentRow row)
    {
        ColdSegment* segment = _segments.Items + row.Number;
        return segment->State == ColdState.Free ? segment->Names == 0
            : segment->Life == row.Life && segment->Band == row.Band && segment->State != ColdState.Open;
    }

    /// <summary>A snapshot on disk names them from now on; they are not free (a snapshot that runs holds them, or they are named already).</summary>
    public void Name(uint[] numbers)
    {
        SpinLatch.Enter(ref _gate);
        foreach (uint number in numbers) _segments.Items[number].Names++;
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>A snapshot that named them is gone.</summary>
    public void Unname(uint[] numbers)
    {
        SpinLatch.Enter(ref _gate);
        foreach (uint number in numbers)
        {
            ColdSegment* segment = _segments.Items + number;
            int left = --segment->Names;
            Garnet.Common.Faults.Check.That(left >= 0, "store.C9 a name is given up once");
            if (segment->State != ColdState.Kept || left != 0)
                continue;
            _keptCount -= segment->Parts;
            segment->State = ColdState.Sealed;
            FreeIfUnused(number);
        }
        SpinLatch.Exit(ref _gate);
    }

    /// <summary>
    /// The sealed segment that a walk over all of them likes best, by what <paramref name="score"/> says (0 or less: not at all); 0 if there is none.
    /// </summary>
    public uint Best(ColdScore score, long nowMs)
    {
        uint best = 0;
        double most = 0;
        for (uint number = _first + 1; number < Math.Min(_fresh, _count); number++)
        {
            if (_segments.Items[number].State != ColdState.Sealed || Volatile.Read(ref _segments.Items[number].Live) == 0)
                continue;
            double found = score(_segments.Items + number, nowMs);
            if (found <= most)
                continue;
            most = found;
            best = number;
        }
        return best;
    }

    /// <summary>What <paramref name="score"/> says of all sealed segments in which something lives, together; a walk.</summary>
    public double Sum(ColdScore score, long nowMs)
    {
        double sum = 0;
        for (uint number = _first + 1; number < Math.Min(Volatile.Read(ref _fresh), _count); number++)
        {
            ColdSegment* segment = _segments.Items + number;
            if (segment->State == ColdState.Sealed && Volatile.Read(ref segment->Live) != 0)
                sum += score(segment, nowMs);
        }
        return sum;
    }

    /// <inheritdoc/>
    public void Dispose() => _segments.Dispose();

    private uint TakeOne()
    {
        if (_free.Count == 0)
            return _fresh < _count ? _fresh++ : 0;
        _freeCount--;
        return _free.Pop();
    }

    private void Adopt(in SegmentRow row, IReadOnlyDictionary<uint, SegmentRow> rows, SegmentRuns runs)
    {
        ColdSegment* last = _segments.Items + row.Number;
        row.CopyTo(last, ColdState.Sealed);
        last->Opened = ++_opened; // rows come in that order
        last->Parts = 1 + runs.Behind(row.Number).Length;
        foreach (uint number in runs.Behind(row.Number))
        {
            last->Next = number;
            last = _segments.Items + number;
            rows[number].CopyTo(last, ColdState.Follows);
        }
    }

    // Pins are left as they are: readers that come late have some, and find out that the word is gone.
    private void Empty(ColdSegment* segment, int band, int recordMax = 0)
    {
        segment->State = ColdState.Open;
        segment->Uses++;
        segment->Opened = ++_opened;
        segment->IsDoubtful = 0;
        segment->Life = (ulong)Random.Shared.NextInt64(1, long.MaxValue);
        segment->Band = (short)band;
        segment->RecordMax = (short)recordMax;
        segment->Used = segment->Records = segment->TimedNamed = 0;
        segment->TimedFromMs = long.MaxValue;
        segment->End = 0;
        segment->Namespace = ColdSegment.NoNamespace;
        segment->MinExpiryMs = long.MaxValue;
        segment->MaxExpiryMs = segment->SweptMs = 0;
        segment->Parts = 1;
        segment->Next = 0;
    }

    private void Review(uint number)
    {
        SpinLatch.Enter(ref _gate);
        FreeIfUnused(number);
        SpinLatch.Exit(ref _gate);
    }

    // Whoever takes the last word or the last pin away comes here and sees the other's.
    private void FreeIfUnused(uint number)
    {
        ColdSegment* segment = _segments.Items + number;
        if (segment->State != ColdState.Sealed || Volatile.Read(ref segment->Live) != 0 || Volatile.Read(ref segment->Pins) != 0)
            return;
        if (_holders != 0)
        {
            segment->State = ColdState.Held;
            _held.Add(number);
            _heldCount += segment->Parts;
            return;
        }
        if (segment->Names != 0)
        {
            segment->State = ColdState.Kept;
            _keptCount += segment->Parts;
            return;
        }
        for (uint next = number; next != 0; next = _segments.Items[next].Next)
        {
            _segments.Items[next].State = ColdState.Free;
            _free.Push(next);
            _freeCount++;
        }
    }
}
