namespace Tsavorite;

/// <summary>
/// What steps of one session that were put off wait for. What has come of it stays until all has, and until the step has been done again: in the same
/// round of its owner in which the last of it came, so that the marks go with the next look at the device. A walk that has passed a record needs it
/// no more before that.
/// </summary>
/// <param name="kept">Where what has come is kept.</param>
internal sealed class StepWaits(KeptReads kept)
{
    private readonly List<ColdWait> _over = []; // since the last look
    // Of one turn at least, though they are much: a step that has come further than that counts by itself how far it is, or is held.
    private const int UsedMax = 4096;
    private readonly List<ColdRead> _used = []; // by one turn
    private long _usedBy, _usedBytes, _usedHeadBytes;

    /// <summary>How many of the words that are wanted, the first ones, are what the step itself names; what comes behind them is read ahead, for others.</summary>
    public int Named { get; set; }

    /// <summary>The step that is put off waits for what is wanted, by its word, and for what it needs at once and has already.</summary>
    public ColdWait Take(Dictionary<ulong, ColdRead> known, List<ulong> wanted, List<ColdRead> needed, long step)
    {
        List<ColdRead> reads = [];
        int named = 0;
        for (int i = 0; i < wanted.Count; i++)
        {
            if (known.TryGetValue(wanted[i], out ColdRead? read))
                Await(read, step, reads);
            named = i < Named ? reads.Count : named;
        }
        foreach (ColdRead read in needed) // what is there already of what it needs at once stays for it
        {
            if (read.State == ColdReadState.Ready)
                Await(read, step, reads);
        }
        AwaitUsed(step, reads);
        return new ColdWait([.. reads]) { Named = named };
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

        if (read.UsedBy == turn || read.IsLong || read.IsInPlace || !TryCountUse(read))
            return;
        read.UsedBy = turn;
        _used.Add(read);
    }

    // As much as one step may need together, however many that are: of tens of thousands of keys a few move while the others are read, and all have to be there at once.
    private bool TryCountUse(ColdRead read)
    {
        if (read.IsAmongHeads)
            return (_usedHeadBytes += KeptReads.CostOfHead(read)) <= KeptReads.HeadBytesOfStep;
        return (_usedBytes += read.RecordBytes) <= kept.BytesOfStep || _used.Count < UsedMax;
    }

    private void ForgetUsed()
    {
        _used.Clear();
        (_usedBytes, _usedHeadBytes) = (0, 0);
    }

    // The turn is put off: what it has looked at stays until it is done again. A disk that is slow would have it begin with its first read again each time. Not so those in
    // several segments, which hold each other up.
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
            if (wait.Come < wait.Named)
                Count(wait, read);
        }
        End(wait);
        return false;
    }

    // Those in several segments are counted by themselves, by who begins them; those in persistent memory take nothing.
    private void Count(ColdWait wait, ColdRead read)
    {
        if (read.IsLong || read.IsInPlace)
            return;
        if (read.IsAmongHeads)
            wait.HeadBytes += KeptReads.CostOfHead(read);
        else
            wait.Bytes += read.RecordBytes;
        wait.IsTooMuch = wait.Bytes > kept.BytesOfStep || wait.HeadBytes > KeptReads.HeadBytesOfStep;
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

    /// <summary>The next look at the device: the steps of those that are over have been done again.</summary>
    public void ForgetOver()
    {
        foreach (ColdWait wait in _over)
        {
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
