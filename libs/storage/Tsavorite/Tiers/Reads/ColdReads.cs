using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// One session's reads of cold records: those under way, and those that have come, each known by its index word. What has come is kept for
/// a moment, for the step that asked for it, which is done again, and for others that want the same.
/// store.C3: a record that was fetched is what its word names for as long as the word stands in the index: its segment is pinned from before
/// the word was looked at last until the device has read it (store.C2), and what lies in a segment never changes while its life lasts. The segment may be
/// another's from then on, and the same word name another record: a look believes what is kept only where the segment's life still is the one it was read in.
/// store.C4: nothing that was read is shown before its checksum was right and its lengths were within what was read. Of all but strings only who has the tier's secret can make that
/// (<see cref="ColdSum"/>): what collections rely on is what this server wrote, or has judged.
/// </summary>
internal sealed unsafe partial class ColdReads : IDisposable
{
    /// <summary>Parts of long records under way at most, so that others have the device too.</summary>
    public const int PartsAtOnce = 8;
    private const long AgainAfterUs = 10_000; // a device that refuses at once would be asked all the time
    private readonly ColdTier _tier;
    private readonly ColdLayers _segments;
    private readonly Dictionary<ulong, ColdRead> _reads = [];
    private readonly QueuedReads _queued;
    private readonly KeptReads _kept;
    private readonly DeviceReads _device;
    private readonly ReadEnds _ends;
    private readonly List<ColdRead> _missing = [];
    private readonly List<ulong> _wanted = [];
    private readonly LookCounts _looks = new();
    private readonly List<ColdRead> _needed = []; // looked at by the step that runs, which needs several at once
    private readonly LongRoom _longRoom = new();
    private long _comingBytes, _steps, _needs;
    private int _pending;
    private bool _hasNews, _isWaiting, _asksAhead;

    public ColdReads(ColdTier tier, ReaderWake wake)
    {
        _tier = tier;
        _segments = tier.Segments;
        _device = new DeviceReads(tier, wake);
        _kept = new KeptReads(tier, Discard);
        _queued = new QueuedReads(Refuse, Leave);
        _ends = new ReadEnds(tier, _device, _queued, _longRoom, Keep);
        Waits = new StepWaits(_kept, _queued.Prefer);
        Patience = new HeldPatience(Discard);
    }

    /// <summary>What steps that were put off wait for.</summary>
    public StepWaits Waits { get; }

    /// <summary>Whether the owner can do a step again later; null: it waits.</summary>
    public Func<bool>? MayPostpone { get; set; }

    /// <summary>Others wait while the owner does, whether it can do a step again or not: it has little patience then.</summary>
    public bool HoldsUpOthers { get; init; }

    /// <summary>Whoever reads is no command, and no client waits for it: its waits are not told of.</summary>
    public bool IsBesideCommands { get; init; }

    /// <summary>How long those wait who hold up others.</summary>
    public HeldPatience Patience { get; }

    /// <summary>What the walk has come to that the device has not brought in time; one that was waited for if there is any. The walk forgets it first.</summary>
    public ColdRead? Late { get; set; }

    /// <summary>The step that runs has met a record that the device may still bring.</summary>
    public bool MetLate { get; private set; }

    /// <summary>Reads of keys that were answered by a record here, and whether those of the step that runs are not to be counted.</summary>
    public long Hits;
    public bool IsQuiet;

    /// <summary>Looks are nobody's reads: nothing is counted for them, and nothing comes back because of them.</summary>
    public bool LooksAside;

    /// <summary>The look that is made needs no more of a record than its head (<see cref="HeadsAsked"/>).</summary>
    public bool HeadsDo;

    /// <summary>Looks find nothing where what was read is damaged, instead of failing: for a step that needs to know no more (store.C11).</summary>
    public bool PassesDamaged;

    /// <inheritdoc cref="ColdLayers.IsUntouched"/>
    public bool IsUntouched => _segments.IsUntouched;

    /// <summary>Reads that were begun, or refused, in all.</summary>
    public long Begun { get; private set; }

    /// <summary>True if a look has come to records that are not there.</summary>
    public bool HasMissing => _wanted.Count != 0;

    /// <summary>The first of these, by its name; 0 if there are none.</summary>
    public ulong FirstMissing => HasMissing ? ColdAddress.Name(_wanted[0]) : 0;

    /// <summary>The first of these when the step had to fetch last; 0: much is taken back and done again if it is put off.</summary>
    public ulong Missing { get; private set; }

    /// <summary>True while something that was fetched is kept.</summary>
    public bool Keeps => _kept.HasAny;

    /// <summary>Reads that have not finished.</summary>
    public int Pending => _pending;

    /// <summary>True while what is to come, at the most, and long records that are kept take less than half of what may be kept. Others have mostly been used.</summary>
    public bool MayReadAhead => _kept.LongBytes + _comingBytes < _tier.AskedBytesMax;

    /// <summary>True while pending reads alone take less than half of what may be kept; for walks, which free each record once they have passed it.</summary>
    public bool MayWalkAhead => _comingBytes < _tier.AskedBytesMax;

    /// <summary>The same for a walk through chunks, all of which it needs at once: the first that waits has a fourth of what it may keep, as it is done again less often so.</summary>
    public bool MayGatherAhead => MayWalkAhead
        || (_comingBytes < _tier.HeldBytesMax / 4 && Waits.IsOfFirst(Patience.ThisTurn));

    /// <summary>The record that a cold word names, or null: it is among the missing then, and pinned.</summary>
    /// <exception cref="GarnetException">It cannot be read, or is not what was written.</exception>
    public byte* Record(ulong word)
    {
        word = ColdAddress.Name(word);
        // what is not whole goes when its time has come
        if (Known(word) is { } read && (read.Serves(HeadsDo, _needs) || !_reads.Remove(word)))
        {
            if (read.IsAhead && !_asksAhead)
                _queued.Need(read);
            if (PassesDamaged && read.IsDamaged)
                return null;
            if (read.State == ColdReadState.Failed || Patience.TryTell(read))
            {
                MetLate |= read.IsLate;
                throw _tier.Unreadable(read);
            }
            if (read.State == ColdReadState.Ready)
            {
                if (Patience.Turn is not null)
                    Waits.Use(read, Patience.ThisTurn);
                return read.Record;
            }
        }
        else
        {
            _segments.Pin(_segments.NumberOf(word));
            ColdSegment* segment = _segments[_segments.NumberOf(word)];
            ColdRead missing = new(word)
            {
                Life = Volatile.Read(ref segment->Life), Parts = segment->Parts, BytesMax = _segments.BytesMaxOf(word), IsPinned = true,
                NeededIn = _needs, IsAhead = _asksAhead, Secret = _segments.Secret,
            };
            missing.Serves(HeadsDo, _needs);
            _comingBytes += missing.BytesMax;
            _missing.Add(missing);
        }
        _wanted.Add(word);
        return null;
    }

    /// <summary>It is among the missing from now on, if it is not known.</summary>
    /// <param name="word">Its word.</param>
    /// <param name="isAhead">It is not needed yet.</param>
    public void Ask(ulong word, bool isAhead)
    {
        _asksAhead = isAhead;
        try
        {
            Record(word);
        }
        finally
        {
            _asksAhead = false;
        }
    }

    /// <summary>The same of one of several that a step needs at once: those are read side by side, though they are more than is kept.</summary>
    /// <param name="word">Its word.</param>
    /// <param name="isAhead">It is not needed yet.</param>
    public byte* RecordOfSeveral(ulong word, bool isAhead = false)
    {
        byte* record = Record(word);
        if (_reads.TryGetValue(ColdAddress.Name(word), out ColdRead? read))
        {
            read.NeededIn = _needs;
            if (!isAhead)
                _needed.Add(read);
        }
        return record;
    }

    /// <summary>What was needed together until now is nothing to what comes.</summary>
    public void BeginSeveral()
    {
        _needs++;
        _needed.Clear();
    }

    /// <summary>
    /// The life of the segment that the word's record was read in; 0, which no segment has, if none was: a word that was looked at without the lock may be
    /// another one than was found a moment before.
    /// </summary>
    public ulong LifeOf(ulong word) => _reads.TryGetValue(ColdAddress.Name(word), out ColdRead? read) ? read.Life : 0;

    /// <summary>How much is missing, for <see cref="Forget(ValueTuple{int, int})"/>.</summary>
    public (int Missing, int Wanted) Mark => (_missing.Count, _wanted.Count);

    /// <summary>Drops what was noted as missing since the mark: that lookup raced with a writer, or found what it wanted in the end.</summary>
    public void Forget((int Missing, int Wanted) mark)
    {
        for (int i = mark.Missing; i < _missing.Count; i++) ComesNot(_missing[i]);
        _missing.RemoveRange(mark.Missing, _missing.Count - mark.Missing);
        _wanted.RemoveRange(mark.Wanted, _wanted.Count - mark.Wanted);
    }

    /// <summary>The last look found what it wanted: what it came to besides is not waited for.</summary>
    public void Forget()
    {
        if (HasMissing)
            Forget(default);
    }

    /// <summary>Fetches what is missing, told by its first word or by <paramref name="what"/>. Waits; or, where the owner can do the step again, throws <see cref="ColdMissException"/>.</summary>
    public void Fetch(bool mayThrow = true, bool takesBackMuch = false, ulong what = 0)
    {
        Missing = !HasMissing || takesBackMuch ? 0 : what != 0 ? what : FirstMissing;
        Begin(isSpent: Patience.IsTurnSpent() || (Patience.HasWaited(_kept.ShortBytes, out long gathered) && EndsAsTooMuch(gathered)));
        if (!_wanted.TrueForAll(IsDone)) // else it lies in persistent memory; or is refused
            Await(mayThrow);
        ForgetWanted();
    }

    private bool EndsAsTooMuch(long gathered)
    {
        bool ends = _tier.IsTooMuch(gathered);
        if (ends)
            Patience.EndAsTooMuch();
        return ends;
    }

    private void Await(bool mayThrow)
    {
        if (mayThrow && MayPostpone is { } may && may())
        {
            _looks.PutOff();
            throw ColdTier.Miss;
        }
        _isWaiting = true;
        long begunAtUs = _tier.NowUs;
        for (int i = _wanted.Count - 1; i >= 0; i--) _queued.Prefer(Known(_wanted[i]));
        Submit();
        (bool isHeld, long endUs) = (HoldsUpOthers || MayPostpone is not null, begunAtUs);
        for (int left, before = int.MaxValue; (left = _wanted.Count(word => !IsDone(word))) > 0; before = left)
        {
            if (left < before) // of many that are fetched side by side each has its time while others come; those of others may take longer
                endUs = _tier.NowUs + (isHeld ? Patience.LeftUs(_wanted.Exists(_device.IsLateNear)) : HeldPatience.Endless);
            long leftUs = Math.Min(_device.UntilLateUs, endUs - _tier.NowUs);
            if (_device.Awaited == 0 || endUs <= _tier.NowUs)
                GiveUpWanted();
            else
                _device.Wait(leftUs);
            Poll(nowMs: long.MinValue);
        }
        _isWaiting = false;
        long waitedUs = _tier.NowUs - begunAtUs;
        Patience.Spend(waitedUs, isInVain: _wanted.Exists(word => Known(word) is { IsLate: true }));
        if (!IsBesideCommands)
            _tier.CountWait(waitedUs);
    }

    /// <summary>The records that the step which was put off has come to, and will come to again.</summary>
    public ColdWait TakeWanted()
    {
        _tier.Count(TierCount.Postponed);
        ColdWait wait = Waits.Take(_reads, _wanted, _needed, (_needs, Patience.ThisTurn));
        _hasNews |= Array.TrueForAll(wait.Reads, static read => read.State > ColdReadState.UnderWay); // no read's end will wake it
        ForgetWanted();
        Submit(); // it may be the first
        return wait;
    }

    /// <summary>Begins to read what is missing; or refuses it, where the turn that runs has waited for long enough.</summary>
    public void Begin(bool isSpent = false)
    {
        if (_device.IsOwed || (HoldsUpOthers && _pending > 0))
            Poll(nowMs: long.MinValue); // an owner that does not poll learns here what has come, or was late, since it gave it up
        foreach (ColdRead read in _missing)
        {
            if (!_reads.TryAdd(read.Word, read))
            {
                AskTwice(_reads[read.Word], read);
                ComesNot(read);
                continue;
            }
            if (PlacedReads.IsInMemory(_segments, read))
            {
                Place(read);
                continue;
            }
            Begun++;
            if (isSpent)
            {
                ComesNot(read);
                _tier.Count(TierCount.RefusedReads);
                Patience.Refuse(read);
            }
            else if (_device.Refuses(read, others: _pending++))
                Refuse(read);
            else
                _queued.Append(read);
            if (read.IsProbe)
                Submit(); // the next is judged by what the device has
        }
        _missing.Clear();
        Submit();
    }

    // Missing twice in a step.
    private void AskTwice(ColdRead known, ColdRead read)
    {
        known.Serves(!read.IsWanted, read.ValueNeededIn);
        if (known.IsAhead && !read.IsAhead)
            _queued.Need(known);
    }

    /// <summary>Takes what has come; true if something has. What has been there for long enough is given up.</summary>
    public bool Poll(long nowMs)
    {
        if (nowMs != long.MinValue)
            _hasNews |= Waits.ForgetOver();
        if (_pending > 0 || _device.IsOwed)
        {
            _hasNews |= _ends.TakeCome();
            while (_pending > 0 && _device.NextLate() is { } late) GiveUp(late);
            Submit();
        }
        if (nowMs == long.MinValue)
            return false; // in the middle of a step: others that wait are told later
        _kept.GiveUp(nowMs);
        if (_queued.HasLong)
            Submit(); // there may be room for it now
        (bool news, _hasNews) = (_hasNews, false);
        return news;
    }

    /// <summary>A step begins: what earlier ones have fetched is given up, but for the last few. For owners that do not poll.</summary>
    public void BeginStep()
    {
        _steps++;
        MetLate = false;
        Patience.BeginStep();
        _looks.Begin();
        _kept.TrimPlaced();
        BeginLeft();
        if (MayPostpone is null)
            _kept.BeginStep(_steps);
    }

    /// <summary>Within a script or a transaction another command begins: those before it need nothing more.</summary>
    public void BeginPart()
    {
        Patience.BeginPart();
        _kept.BeginPart();
    }

    /// <summary>What a look that needed no more has left is read, and not waited for: not by the step of another, either.</summary>
    public void BeginLeft()
    {
        if (!HasMissing)
            return;
        Begin();
        ForgetWanted();
    }

    /// <summary>Gives up what is kept beyond the limit, the first first: between two parts of a step that reads very much.</summary>
    public void Trim() => _kept.Trim();

    /// <summary>
    /// A walk will not come back to the word's record: if it lies in several segments, its memory is freed for the next, unless others were put off for it too: the last
    /// of them frees it, or its time, and none reads it again.
    /// </summary>
    public void Passed(ulong word)
    {
        if (_reads.TryGetValue(ColdAddress.Name(word), out ColdRead? read))
            Waits.Passed(read);
    }

    /// <summary>Gives up all that is kept: the segments it lies in are free for others.</summary>
    public void Release() => _kept.Release();

    /// <summary>A step has looked at the word's record, which was fetched; false if that was counted before.</summary>
    public bool CountsLook(ulong word) => _looks.Counts(_reads[ColdAddress.Name(word)], _steps);

    /// <summary>What is known of the word's record; null: nothing.</summary>
    // store.C3: what was read of another use of the segment is not found any more, and goes when its time has come: the step that runs may still look at it.
    public ColdRead? Known(ulong word)
    {
        word = ColdAddress.Name(word);
        if (!_reads.TryGetValue(word, out ColdRead? read) || _tier.IsOfLife(word, read.Life))
            return read;
        _reads.Remove(word);
        return null;
    }

    /// <summary>What could not be read is tried again: it may have been for a moment. For owners that do not poll.</summary>
    public void ForgetFailed()
    {
        if (MayPostpone is null)
            _kept.ForgetFailed();
    }

    /// <summary>The step cannot do without what was late: a moment later it is asked for again, as is all that could not be read.</summary>
    public void AskAgain()
    {
        _device.Wait(AgainAfterUs);
        Poll(nowMs: long.MinValue);
        _kept.ForgetFailed();
        MetLate = false;
    }

    /// <summary>True once the record of the word need not be waited for any more.</summary>
    public bool IsDone(ulong word) =>
        !_reads.TryGetValue(ColdAddress.Name(word), out ColdRead? read) || read.State > ColdReadState.UnderWay || Patience.HasGivenUp(read);

    /// <inheritdoc/>
    public void Dispose()
    {
        Forget();
        if (!TryClose(HeldPatience.LongestUs))
            _tier.CloseLater(this);
    }

    /// <summary>Frees everything, unless the device has something after so long; what it has stays its own (store.C12).</summary>
    public bool TryClose(long microseconds)
    {
        if (!_device.TryEnd(microseconds, Free))
            return false;
        _device.Dispose();
        _kept.Dispose();
        foreach (ColdRead read in (IEnumerable<ColdRead>)[.. _queued.All, .. _reads.Values]) Free(read);
        _reads.Clear();
        return true;
    }

    // What the next step needs is another's.
    private void ForgetWanted()
    {
        _wanted.Clear();
        Waits.Named = 0;
        BeginSeveral();
    }

    private void ComesNot(ColdRead missing)
    {
        _comingBytes -= missing.BytesMax;
        Unpin(missing);
    }

    private void Unpin(ColdRead read)
    {
        if (!read.IsPinned)
            return;
        read.IsPinned = false;
        _segments.Unpin(_segments.NumberOf(read.Word));
    }

    private void Submit()
    {
        while (_device.HasRoom && _queued.TryTake(_device, out ColdRead? read)) _device.Begin(read);
        SubmitLong();
        _device.Submit();
    }

    // Behind the others, one after the other, and only as many as are kept: but for one, or those that one step needs together.
    private void SubmitLong()
    {
        while (_device.PartsUnderWay < _device.PartsMax && _queued.TryPeekLong(out ColdRead? read) && _device.HasRoom)
        {
            if (read.Long is null && !TryBeginLong(read))
                return;
            _device.BeginPart(read);
            if (!read.Long!.HasMore)
                _queued.RemoveFirstLong();
        }
    }

    // Nobody waits for it any more, and the device has not got it.
    private void Leave(ColdRead read)
    {
        (_pending, _comingBytes) = (_pending - 1, _comingBytes - read.BytesMax);
        Discard(read);
    }

    private bool TryBeginLong(ColdRead read)
    {
        if (!(_isWaiting && _wanted.Contains(read.Word)) && !_longRoom.MayTake(read, _tier.KeptBytesMax))
            return false;
        read.BegunAtUs = _tier.NowUs;
        _longRoom.Begin(read, _segments.RunOf(_segments.NumberOf(read.Word), read.Parts));
        return true;
    }

    // The device has not answered: whoever waits for it has an error. Where it owes much what is behind it does not wait as long as this has.
    private void GiveUp(ColdRead late)
    {
        if (late.Long is not null)
        {
            if (late.Long.HasMore)
                _queued.RemoveFirstLong(); // it is the first
            _longRoom.Leave(late);
        }
        if (_device.GiveUp(late))
            _tier.BeginOwed(_tier.PlaceOf(late));
        BeLate(late);
        _queued.RefuseLong(_device);
    }

    private void Refuse(ColdRead read)
    {
        _tier.Count(TierCount.RefusedReads);
        BeLate(read);
    }

    private void BeLate(ColdRead read)
    {
        (read.State, read.Error) = (ColdReadState.Failed, Libc.ETIMEDOUT);
        _hasNews = true;
        Keep(read);
    }

    // Whoever stands and waits has done so for long enough; or what he waits for has no place with the device, which owes all. Others may wait for the former longer.
    private void GiveUpWanted()
    {
        foreach (ulong word in _wanted)
        {
            if (!_reads.TryGetValue(word, out ColdRead? read) || read.State > ColdReadState.UnderWay)
                continue;
            if (_device.Awaited != 0)
            {
                Patience.GiveUp(read, isNeeded: word == _wanted[0]);
                _tier.Count(TierCount.RefusedReads);
            }
            else if (read.State == ColdReadState.UnderWay)
                GiveUp(read);
            else if (_queued.TryRemove(read))
                Refuse(read);
        }
    }

    private void Keep(ColdRead read)
    {
        (_pending, _comingBytes) = (_pending - 1, _comingBytes - read.BytesMax);
        Unpin(read);
        _kept.Add(read, _steps);
    }

    private void Discard(ColdRead read)
    {
        if (_reads.TryGetValue(read.Word, out ColdRead? known) && known == read)
            _reads.Remove(read.Word);
        Free(read);
    }

    private void Free(ColdRead read)
    {
        FreeLong(read);
        if (!read.IsInPlace)
            NativeMemory.Free(read.Record);
        read.Record = null;
        Unpin(read);
    }

    // Read to where it stays.
    private void FreeLong(ColdRead read)
    {
        if (read.Long is not null)
            _longRoom.Free(read);
    }
}
