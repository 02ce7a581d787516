using System.Runtime.InteropServices;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// What the device has of one session: reads that were handed to it and have not come back, and the memory they are read to. Those that it does not answer in time it owes.
/// store.C12: what a read uses (its memory, its place with the device, its pin) belongs to the device until the read has come back, however late. Whoever waited for it has had an
/// error by then, and what it brings is thrown away. A device, or a part of one, that answers nothing takes a bounded part of the memory, and no places that others need: of a segment
/// of which it owes several, none is begun, and where it answers nothing at all, or owes much, a few at a time, of segments of which it owes nothing.
/// </summary>
internal sealed unsafe class DeviceReads(ColdTier tier, ReaderWake wake) : IDisposable
{
    /// <summary>Reads that are waited for at most, and places: while it owes so much that no more than those are left, these are for segments of which it owes nothing.</summary>
    private const int AwaitedMax = 64, Depth = 4 * AwaitedMax;
    /// <summary>Reads under way at most where it answers nothing, or owes much, which show whether it does elsewhere.</summary>
    public const int ProbesMax = 8;
    /// <summary>So many owed of one segment are no accident: others of it would wait, too, and take a place each. None is begun there until it has brought some.</summary>
    public const int NearMax = 4;
    /// <summary>The last places are for segments that have answered since it began to owe, and so many of them are known: any number of others may hang.</summary>
    private const int KnownPlaces = 2 * ProbesMax, KnownMax = 4096;
    // By place; none before the first read.
    private ColdRead?[] _reads = [];
    private int[] _parts = [];
    private FinishedRead[] _finished = [];
    private readonly Stack<int> _places = new();
    private readonly Dictionary<ulong, ColdRead> _owed = [];
    private readonly Dictionary<uint, int> _owedOfSegment = [];
    private readonly HashSet<uint> _answered = []; // segments, since it began to owe
    private IMediumReader? _reader;
    private ReadPages? _pages;
    private int _next, _count, _owedPlaces;
    private long _owedBytes, _lookAtUs, _patienceUs, _cameAtUs, _lateBegunUs, _lateAtUs;

    /// <summary>True while something is to come back, owed or not.</summary>
    public bool HasAny => _places.Count < Depth && _reader is not null;

    /// <summary>Reads under way that somebody waits for, and of these, parts of long ones.</summary>
    public int Awaited => _reader is null ? 0 : Depth - _places.Count - _owedPlaces;

    /// <inheritdoc cref="Awaited"/>
    public int PartsUnderWay { get; private set; }

    /// <summary>Parts of long reads under way at most: where it owes much, one that hangs is to take one place.</summary>
    public int PartsMax => OwesMuch ? 1 : ColdReads.PartsAtOnce;

    /// <summary>True if another may be begun.</summary>
    public bool HasRoom => Reader.Room > 0 && _places.Count > 0
        && Awaited < Math.Clamp(Depth - AwaitedMax - _owedPlaces, ProbesMax, AwaitedMax);

    /// <summary>True while the device owes a read.</summary>
    public bool IsOwed => _owedPlaces != 0;

    /// <summary>How long until the first of what is under way is late.</summary>
    public long UntilLateUs => _lookAtUs - tier.NowUs;

    // With the first read: most sessions of a server never make one.
    private IMediumReader Reader => _reader ??= Open();

    /// <summary>
    /// True if the read is not to be begun: it would wait as those wait that the device owes. <paramref name="others"/>: how many are waited for that might show whether it
    /// does.
    /// </summary>
    public bool Refuses(ColdRead read, int others)
    {
        if (_owedPlaces == 0)
            return false;
        bool isSilent = _cameAtUs <= _lateBegunUs;
        // Of what was sent behind one that was late just now each would wait as long.
        bool isJustLate = OwesNear(read.Word) && tier.NowUs - _lateAtUs < HeldPatience.LongestUs;
        bool isEnough = others >= ProbesMax ? isSilent || OwesMuch : isSilent && (isJustLate || (others > 0 && IsAskedNear(read.Word)));
        read.IsProbe = !isEnough && !IsInVain(read);
        return !read.IsProbe;
    }

    /// <summary>True if one that has stood behind others may be begun still: not where it came before the device was late, or what it needs is owed by now.</summary>
    public bool MayBegin(ColdRead read) => read.IsProbe ? !IsInVain(read) : !Refuses(read, others: int.MaxValue);

    /// <summary>True if it owes something of the segment that the word's record lies in, or has let somebody wait in place in vain for something there.</summary>
    public bool IsLateNear(ulong word)
    {
        uint number = tier.Segments.NumberOf(word);
        return HasAny
            && (OwesNear(word) || Array.Exists(_reads, read => read is { RefusedIn: >= 0 } && tier.Segments.NumberOf(read.Word) == number));
    }

    /// <summary>Begins a read, of the pages that it lies in; there is room.</summary>
    public void Begin(ColdRead read)
    {
        long offset = ColdAddress.Offset(read.Word), start = offset & ~(ColdSegments.PageBytes - 1L);
        long segmentEnd = tier.Segments.OffsetOf(tier.Segments.NumberOf(read.Word)) + tier.Segments.SegmentBytes;
        int bytes = (int)(Math.Min(start + read.BytesMax, segmentEnd) - start);
        (read.Skip, read.Bytes) = ((int)(offset - start), bytes);
        read.To = _pages!.Take(bytes);
        read.State = ColdReadState.UnderWay;
        read.BegunAtUs = read.AliveAtUs = tier.NowUs;
        Reader.Begin((ulong)PlaceFor(read), start, (byte*)read.To, bytes);
    }

    /// <summary>Begins the next part of a long one.</summary>
    public void BeginPart(ColdRead read)
    {
        (int number, ColdPart part, nint to) = read.Long!.Begin();
        int place = PlaceFor(read);
        _parts[place] = number;
        PartsUnderWay++;
        read.AliveAtUs = tier.NowUs; // of a long one each part has its time
        Reader.Begin((ulong)place, part.Offset, (byte*)to, part.ReadBytes);
    }

    /// <summary>Hands what was begun to the device.</summary>
    public void Submit() => _reader?.Submit();

    /// <summary>Waits until something has come, for so long at most.</summary>
    public void Wait(long microseconds) => _reader?.Wait((int)Math.Clamp((microseconds + 999) / 1000, 1, int.MaxValue));

    /// <summary>Takes what has come back, if anything has: which read, for a long one which part, and what came of it. What it owed goes without a word.</summary>
    public bool TryTake(out ColdRead read, out int part, out int result)
    {
        (read, part, result) = (null!, 0, 0);
        while (_next < _count || TakeSome())
        {
            FinishedRead finished = _finished[_next++];
            int place = (int)finished.Token;
            (read, part, result) = (_reads[place]!, _parts[place], finished.Result);
            _reads[place] = null;
            _places.Push(place);
            _cameAtUs = tier.NowUs;
            if (IsOwed)
                NoteAnswer(read);
            if (read.IsOwedByDevice)
            {
                TakeOwed(read, part, result);
                continue;
            }

            PartsUnderWay -= read.IsLong ? 1 : 0;
            read.AliveAtUs = read.IsLong ? tier.NowUs : 0;
            return true;
        }

        return false;
    }

    /// <summary>The memory of one that was taken is free.</summary>
    public void GiveBack(ColdRead read) => _pages!.GiveBack(read.To, read.Bytes);

    /// <summary>The next that is late; null: none is.</summary>
    public ColdRead? NextLate()
    {
        long nowUs = tier.NowUs, patienceUs = tier.ReadTimeoutMs * 1000;
        if (nowUs < _lookAtUs && patienceUs == _patienceUs)
            return null;
        _patienceUs = patienceUs;
        _lookAtUs = nowUs + patienceUs;
        foreach (ColdRead? read in _reads)
        {
            if (read is null or { IsOwedByDevice: true })
                continue;
            if (read.AliveAtUs + patienceUs <= nowUs)
            {
                _lookAtUs = nowUs; // there may be more
                return read;
            }

            _lookAtUs = Math.Min(_lookAtUs, read.AliveAtUs + patienceUs);
        }

        return null;
    }

    /// <summary>Nobody waits any more for what is under way: the device owes it (store.C12), and has its memory and its pin.</summary>
    /// <returns>True if it has anything of it.</returns>
    public bool GiveUp(ColdRead read)
    {
        ColdRead owed = new(read.Word)
        {
            State = ColdReadState.UnderWay, IsOwedByDevice = true, IsPinned = read.IsPinned, Parts = read.Parts, BytesMax = read.BytesMax,
            To = read.To, Bytes = read.Bytes, Long = read.Long,
        };
        int places = 0;
        foreach (ref ColdRead? underWay in _reads.AsSpan())
        {
            if (underWay != read)
                continue;
            underWay = owed;
            places++;
        }

        (read.IsPinned, read.To, read.Long, _lateBegunUs, _lateAtUs) = (false, 0, null, read.AliveAtUs, tier.NowUs);
        owed.Long?.GiveUp();
        PartsUnderWay -= owed.IsLong ? places : 0;
        if (places == 0)
        {
            Free(owed);
            return false;
        }

        _owedPlaces += places;
        _owedBytes += owed.BytesMax;
        _owed.Add(owed.Word, owed);
        uint number = tier.Segments.NumberOf(owed.Word);
        CollectionsMarshal.GetValueRefOrAddDefault(_owedOfSegment, number, out _)++;
        _answered.Remove(number);
        return true;
    }

    /// <summary>True once nothing is with the device, after so long at most; <paramref name="free"/> has what has come. Else it is to be asked again, and wakes nobody.</summary>
    public bool TryEnd(long microseconds, Action<ColdRead> free)
    {
        for (long endUs = tier.NowUs + microseconds, leftUs = microseconds; !TryDrain(free) && leftUs > 0; leftUs = endUs - tier.NowUs)
            Wait(leftUs);
        if (HasAny)
        {
            _reader!.WakeNobody();
            return false;
        }

        return true;
    }

    /// <summary>Behind <see cref="TryEnd"/>.</summary>
    public void Dispose()
    {
        _reader?.Dispose();
        _pages?.Dispose();
        _reader = null;
    }

    private bool TryDrain(Action<ColdRead> free)
    {
        while (TryTake(out ColdRead read, out int part, out int result))
        {
            read.Long?.GiveUp();
            read.Long?.End(part, result);
            if (!read.IsLong)
                GiveBack(read);
            if (read.Long is not { IsOver: false })
                free(read);
        }

        return !HasAny;
    }

    private bool TakeSome()
    {
        (_next, _count) = (0, HasAny ? _reader!.Take(_finished) : 0);
        return _count > 0;
    }

    private int OwedNear(ulong word) => _owedOfSegment.GetValueOrDefault(tier.Segments.NumberOf(word));

    private bool OwesNear(ulong word) => OwedNear(word) != 0;

    private bool OwesMuch => Depth - _owedPlaces <= AwaitedMax;

    // It is owed itself, or so much is, of its segment or in all, that what is left is for others.
    private bool IsInVain(ColdRead read)
    {
        int near = OwedNear(read.Word), places = Depth - _owedPlaces;
        if (_owed.ContainsKey(read.Word) || near >= NearMax || (near > 0 && OwesMuch) || places == 0)
            return true;
        bool isKnown = places > KnownPlaces || _answered.Contains(tier.Segments.NumberOf(read.Word));
        return !isKnown || (read.IsLong && _owedBytes >= tier.KeptBytesMax);
    }

    // Where nothing comes one of a segment shows as much as several; they would be one more timeout for whoever asks for all of them.
    private bool IsAskedNear(ulong word)
    {
        uint number = tier.Segments.NumberOf(word);
        foreach (ColdRead? read in _reads)
        {
            if (read is not null && tier.Segments.NumberOf(read.Word) == number)
                return true;
        }

        return false;
    }

    private void NoteAnswer(ColdRead read)
    {
        if (_answered.Count >= KnownMax)
            _answered.Clear();
        _answered.Add(tier.Segments.NumberOf(read.Word));
    }

    private int PlaceFor(ColdRead read)
    {
        int place = _places.Pop();
        _reads[place] = read;
        return place;
    }

    private void TakeOwed(ColdRead owed, int part, int result)
    {
        if (--_owedPlaces == 0)
            _answered.Clear();
        owed.Long?.End(part, result);
        if (owed.Long is { IsOver: false })
            return;
        _owed.Remove(owed.Word);
        uint number = tier.Segments.NumberOf(owed.Word);
        if (--CollectionsMarshal.GetValueRefOrAddDefault(_owedOfSegment, number, out _) == 0)
            _owedOfSegment.Remove(number);
        _owedBytes -= owed.BytesMax;
        Free(owed);
        tier.EndOwed();
    }

    private void Free(ColdRead owed)
    {
        if (owed.IsLong)
            LongRoom.Free(owed.To);
        else
            GiveBack(owed);
        if (owed.IsPinned)
            tier.Segments.Unpin(tier.Segments.NumberOf(owed.Word));
    }

    private IMediumReader Open()
    {
        _pages = new ReadPages(Depth);
        (_reads, _parts, _finished) = (new ColdRead?[Depth], new int[Depth], new FinishedRead[AwaitedMax]);
        for (int i = Depth - 1; i >= 0; i--) _places.Push(i);
        return tier.Medium.OpenReader(Depth, wake);
    }
}
