namespace Tsavorite;

/// <summary>
/// What steps that were put off wait for. What has come of it stays until all has, and until the step has been done again: in the same round of its owner in which the last of it came, so
/// that the marks go with the next look at the device. A walk that has passed a record needs it no more before that.
/// </summary>
internal sealed unsafe partial class ColdReads
{
    /// <summary>The records that the step which was put off has come to, and will come to again.</summary>
    public ColdWait TakeWanted()
    {
        _tier.Count(TierCount.Postponed);
        List<ColdRead> reads = [];
        foreach (ulong word in _wanted)
        {
            if (!_reads.TryGetValue(word, out ColdRead? read) || read.AwaitedIn == _needs)
                continue; // it has come to it twice
            Await(read, reads);
        }
        foreach (ColdRead read in _needed) // what is there already of what it needs at once stays for it
        {
            if (read.State == ColdReadState.Ready && read.AwaitedIn != _needs)
                Await(read, reads);
        }
        ForgetWanted();
        return new ColdWait([.. reads]);
    }

    private void Await(ColdRead read, List<ColdRead> reads)
    {
        read.AwaitedIn = _needs;
        read.Awaited++;
        reads.Add(read);
    }

    /// <summary>True while one of them is on its way. Once none is, the step is to be done again before the next <see cref="Poll"/>: what was kept for it goes by other rules from then on.</summary>
    public bool Awaits(ColdWait wait)
    {
        foreach (ColdRead read in wait.Reads)
        {
            if (!wait.IsOver && read.State <= ColdReadState.UnderWay)
                return true;
        }
        End(wait);
        return false;
    }

    /// <summary>Nobody waits any more.</summary>
    public void End(ColdWait wait)
    {
        if (wait.IsOver)
            return;
        wait.IsOver = true;
        _over.Add(wait);
        foreach (ColdRead read in wait.Reads) read.Returning++;
    }

    // Their steps have been done again.
    private void ForgetOver()
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
    }

    private void GiveUpPassed(ColdRead read)
    {
        if (read is { IsPassed: true, IsLong: true, State: ColdReadState.Ready, Awaited: 0 })
            _kept.GiveUpLong(read);
    }
}
