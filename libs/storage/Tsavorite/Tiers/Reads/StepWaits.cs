namespace Tsavorite;

/// <summary>
/// What steps of one session that were put off wait for. What has come of it stays until all has, and until the step has been done again: in the same
/// round of its owner in which the last of it came, so that the marks go with the next look at the device. A walk that has passed a record needs it
/// no more before that.
/// store.C14: they stand in a line. What the first waits for is read before all else and stays whatever others bring, so that it has all of it together however many wait, and however
/// slow the disk is. Of what those behind it wait for as much is kept as may be; what had to be given up is read again when they are the first.
/// </summary>
/// <param name="kept">Where what has come is kept.</param>
/// <param name="prefer">Has a read handed to the device before others.</param>
internal sealed class StepWaits(KeptReads kept, Action<ColdRead> prefer)
{
    private readonly LinkedList<ColdWait> _line = [];
    private ColdWait? _first;
    private readonly List<ColdWait> _over = []; // since the last look
    // Of one turn at least, though they are much: a step that has come further than that counts by itself how far it is, or is held.
    private const int UsedMax = 4096;
    private readonly List<ColdRead> _used = []; // by one turn
    private long _usedBy, _usedBytes, _usedHeadBytes;

    /// <summary>How many of the words that are wanted, the first ones, are what the step itself names; what comes behind them is read ahead, for others.</summary>
    public int Named { get; set; }

    /// <summary>The step that is put off waits for what is wanted, by its word, and for what it needs at once and has already.</summary>
    public ColdWait Take(Dictionary<ulong, ColdRead> known, List<ulong> wanted, List<ColdRead> needed, (long Number, long Turn) step)
    {
        List<ColdRead> reads = [];
        List<bool> named = [];
        for (int i = 0; i < wanted.Count; i++)
        {
            if (!known.TryGetValue(wanted[i], out ColdRead? read))
                continue;
            Await(read, step.Number, reads);
            if (i < Named && named.Count < reads.Count) // else it has come to it twice
                named.Add(read.ValueNeededIn == step.Number);
        }
        foreach (ColdRead read in needed) // what is there already of what it needs at once stays for it
        {
            if (read.State == ColdReadState.Ready)
                Await(read, step.Number, reads);
        }
        AwaitUsed(step.Number, reads);
        ColdWait wait = new([.. reads]) { Named = [.. named], Turn = step.Turn };
        Join(wait);
        return wait;
    }

    // Who was the first, and is put off again, stays it. One that is framed again is the next command of its client by number.
    private void Join(ColdWait wait)
    {
        wait.Place = _first is { IsOver: true } && IsOfFirst(wait.Turn) ? _line.AddFirst(wait) : _line.AddLast(wait);
        Advance();
    }

    /// <summary>The turn does again what the first waits for, or waited for: what that has had it has had for good.</summary>
    public bool IsOfFirst(long turn) => _first is { Turn: > 0 } first && turn - first.Turn is 0 or 1;

    // True if another is the first.
    private bool Advance()
    {
        ColdWait? first = _line.First?.Value;
        if (first == _first)
            return false;
        foreach (ColdRead read in _first?.Reads ?? []) read.IsHeld = false;
        _first = first;
        for (int i = first?.Reads.Length - 1 ?? -1; i >= 0; i--)
        {
            first!.Reads[i].IsHeld = true;
            prefer(first.Reads[i]); // before those behind it, which have been by now
        }
        return first is not null;
    }

    // A step that is put off waits for this too; the step that needs it is the one of that number.
    private static void Await(ColdRead read, long step, List<ColdRead> reads)
    {
        if (read.AwaitedIn == step)
            return; // it has come to it twice
        read.AwaitedIn = step;
        read.Awaited++;
        reads.Add(read);
    }

    /// <summary>The turn has looked at what is there.</summary>
    public void Use(ColdRead read, long turn)
    {
        if (turn != _usedBy)
        {
            ForgetUsed();
            _usedBy = turn;
        }

        if (read.UsedBy == turn || (read.IsLong && !read.IsHeld) || read.IsInPlace || !TryCountUse(read, turn))
            return;
        read.UsedBy = turn;
        _used.Add(read);
    }

    // As much as one step may need together, however many that are: of tens of thousands of keys a few move while the others are read, and all have to be there at once.
    private bool TryCountUse(ColdRead read, long turn)
    {
        if (read.IsLong)
            return true; // as the first of those that wait needs it
        if (read.IsAmongHeads)
            return (_usedHeadBytes += KeptReads.CostOfHead(read.RecordBytes)) <= KeptReads.HeadBytesOfStep;
        _usedBytes += read.RecordBytes;
        return IsOfFirst(turn) ? _usedBytes <= kept.BytesOfFirst : _usedBytes <= kept.BytesOfStep || _used.Count < UsedMax;
    }

    private void ForgetUsed()
    {
        _used.Clear();
        (_usedBytes, _usedHeadBytes) = (0, 0);
    }

    // The turn is put off: what it has looked at stays until it is done again. A disk that is slow would have it begin with its first read again each time. Not so those in
    // several segments, which hold each other up, but for the first's.
    private void AwaitUsed(long step, List<ColdRead> reads)
    {
        foreach (ColdRead read in _used)
        {
            if (read is { State: ColdReadState.Ready, HasRecord: true })
                Await(read, step, reads);
        }

        ForgetUsed();
    }

    /// <summary>
    /// True while one of them is on its way. Once none is, the step is to be done again before the next look: what was kept for it goes by
    /// other rules from then on.
    /// </summary>
    public bool Awaits(ColdWait wait)
    {
        for (; !wait.IsOver && wait.Come < wait.Reads.Length && !wait.IsTooMuch; wait.Come++)
        {
            ColdRead read = wait.Reads[wait.Come];
            if (read.State <= ColdReadState.UnderWay)
                return true;
            if (wait.Come < wait.Named.Length)
                Count(wait, read, isHead: !wait.Named[wait.Come]);
        }
        if (wait != _first && Lacks(wait))
            return true;
        End(wait);
        return false;
    }

    // Not to be done again in vain: what is gone is read again when this one is the first.
    private static bool Lacks(ColdWait wait) =>
        !wait.IsOver && !wait.IsTooMuch && (wait.Gone ??= Array.Find(wait.Reads, static read => read.IsGone)) is not null;

    // Those in several segments are counted by themselves, and one may be as long as it is; those in persistent memory take nothing.
    // Another may need more of it than this step does.
    private void Count(ColdWait wait, ColdRead read, bool isHead)
    {
        if (read.IsInPlace)
            return;
        if (isHead)
            wait.HeadBytes += KeptReads.CostOfHead(read.HeadBytes);
        else if (read.IsLong)
            wait.IsTooMuch |= (wait.LongBytes += read.RecordBytes) > Math.Max(kept.LongBytesOfStep, read.RecordBytes);
        else
            wait.Bytes += read.RecordBytes;
        wait.IsTooMuch |= wait.Bytes > kept.BytesOfStep || wait.HeadBytes > KeptReads.HeadBytesOfStep;
    }

    /// <summary>Nobody waits any more.</summary>
    public void End(ColdWait wait)
    {
        if (wait.IsOver)
            return;
        wait.IsOver = true;
        _over.Add(wait);
        foreach (ColdRead read in wait.Reads)
        {
            read.Returning++;
            read.IsInVain = read is { State: ColdReadState.Queued, Awaited: 1 }; // by nobody else, and the device has not got it yet
        }
    }

    /// <summary>The next look at the device: the steps of those that are over have been done again. True if another is the first of those that wait.</summary>
    public bool ForgetOver()
    {
        foreach (ColdWait wait in _over)
        {
            _line.Remove(wait.Place!);
            foreach (ColdRead read in wait.Reads)
            {
                read.Returning--;
                if (read.Returned > 0)
                    read.Returned--;
                else
                    read.Awaited--;
                GiveUpPassed(read);
            }
        }
        _over.Clear();
        ForgetUsed(); // the turn that has looked at it is over, too
        return Advance();
    }

    /// <summary>A walk has come past it.</summary>
    public void Passed(ColdRead read)
    {
        read.IsPassed = true;
        if (read.Returning > read.Returned)
        {
            read.Returned++; // one of those who were put off for it, or another in his place
            read.Awaited--;
        }
        GiveUpPassed(read);
    }

    private void GiveUpPassed(ColdRead read)
    {
        if (read is { IsPassed: true, IsLong: true, State: ColdReadState.Ready, Awaited: 0 })
            kept.GiveUpLong(read);
    }
}
