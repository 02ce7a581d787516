using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// How long reads are waited for where others wait too, of a thread or a lock: they are not to pay for one key, nor for many of one command, script or transaction. What
/// a disk that answers takes is not held against it, but for what nobody would wait for: a step that comes to thousands of records, one after the other, is ended too.
/// </summary>
/// <param name="forget">What a step was refused is to be asked for again by the next.</param>
internal sealed class HeldPatience(Action<ColdRead> forget)
{
    /// <summary>For one read, and for all of a turn together that do not come in time.</summary>
    public const long LongestUs = 1_000_000;

    /// <summary>For one of a segment whose other reads have not been answered: it will most likely not be either.</summary>
    public const long LateUs = 100_000;
    /// <summary>For all of a turn, those that come in time too.</summary>
    public const long LongestInAllUs = 10_000_000;
    /// <summary>For what has to come, and of who holds up nobody: longer than anybody waits.</summary>
    public const long Endless = long.MaxValue / 2;
    private const long NotBegun = -1;
    private readonly List<ColdRead> _refused = [];
    private long _turn, _spentUs, _inAllUs, _step, _toBeToldBy, _gatheredFrom = NotBegun;
    private bool _isToBeTold, _hasTooMuch;
    private bool _hasNoEnd; // what is waited for has to come (SureReads)

    /// <summary>What is waited for has to come from now on: what was refused is asked for.</summary>
    public void BeginEndless()
    {
        _hasNoEnd = true;
        ForgetRefused();
    }

    /// <summary>Behind <see cref="BeginEndless"/>.</summary>
    public void EndEndless() => _hasNoEnd = false;

    /// <summary>Waits in place that there were, of all.</summary>
    public long Waits { get; private set; }

    /// <summary>Microseconds that those took together.</summary>
    public long WaitedUs { get; private set; }

    /// <summary>Tells the turn that runs, a command's with all that it runs, from others; null: each read is for itself.</summary>
    public Func<long>? Turn { get; set; }

    /// <summary>The turn that runs; 0 where none is told from others.</summary>
    public long ThisTurn => Turn?.Invoke() ?? 0;

    /// <summary>True if the turn that runs has waited for as long as it may: what is not there it does not get. Another turn than at the last call has all of its time.</summary>
    public bool IsTurnSpent()
    {
        long turn = ThisTurn;
        if (Turn is null || turn != _turn)
            (_turn, _spentUs, _inAllUs, _hasTooMuch, _gatheredFrom) = (turn, 0, 0, false, NotBegun);
        return !_hasNoEnd && (_spentUs >= LongestUs || IsTooLong || _hasTooMuch);
    }

    /// <summary>Within the turn that runs another command begins: what is at hand is no longer needed together.</summary>
    public void BeginPart() => (_hasTooMuch, _gatheredFrom) = (false, NotBegun);

    /// <summary>True if the command that runs has waited where it stands, and may be ended; what it has gathered since it began.</summary>
    /// <param name="bytes">So much is at hand.</param>
    /// <param name="gathered">So much of it is the command's.</param>
    public bool HasWaited(long bytes, out long gathered)
    {
        _gatheredFrom = _gatheredFrom == NotBegun ? bytes : Math.Min(bytes, _gatheredFrom);
        gathered = bytes - _gatheredFrom;
        return _inAllUs > 0 && !_hasNoEnd;
    }

    /// <summary>The command that runs has gathered too much, and gets no more.</summary>
    public void EndAsTooMuch() => _hasTooMuch = true;

    // The device has answered all the while.
    private bool IsTooLong => _inAllUs >= LongestInAllUs;

    /// <summary>How long a read of the turn may take.</summary>
    public long LeftUs(bool isLateNear) =>
        _hasNoEnd ? Endless : IsTurnSpent() ? 0 : Math.Min(isLateNear ? LateUs : LongestUs, LongestUs - _spentUs);

    /// <summary>
    /// The step that runs waits for what is under way no longer; to it that is an error. Nobody else is told so: a disk that is slow is not silent, which tier-read-timeout alone
    /// decides.
    /// </summary>
    /// <param name="read">The read.</param>
    /// <param name="isNeeded">The step comes to it when it goes on; what was only fetched ahead it may never need.</param>
    public void GiveUp(ColdRead read, bool isNeeded)
    {
        read.RefusedIn = _step;
        if (isNeeded)
            (_isToBeTold, _toBeToldBy) = (true, ThisTurn);
    }

    /// <summary>True if the step that runs has given it up.</summary>
    public bool HasGivenUp(ColdRead read) => !_hasNoEnd && read.RefusedIn == _step && read.State <= ColdReadState.UnderWay;

    /// <summary>The same, where the step is told: until then it may begin anew, to look again for what it has waited for.</summary>
    public bool TryTell(ColdRead read)
    {
        bool hasGivenUp = HasGivenUp(read);
        _isToBeTold &= !hasGivenUp;
        return hasGivenUp;
    }

    /// <summary>The turn has waited for so long; in vain or not: a disk that is only slow, or a machine that is, is no reason for an error, or much later.</summary>
    public void Spend(long microseconds, bool isInVain)
    {
        WaitedUs += microseconds;
        Waits++;
        _inAllUs += microseconds;
        _spentUs += isInVain ? microseconds : 0;
    }

    /// <summary>The step fails where it needs this, as if the device had not answered, or as it has had enough; nobody else does.</summary>
    public void Refuse(ColdRead read)
    {
        (read.State, read.Error) = (ColdReadState.Failed, _hasTooMuch ? Libc.ENOMEM : IsTooLong ? Libc.ECANCELED : Libc.ETIMEDOUT);
        _refused.Add(read);
    }

    /// <summary>Another step begins, or the same one anew.</summary>
    public void BeginStep()
    {
        _isToBeTold &= _toBeToldBy == ThisTurn; // another turn begins: the one that was to be told had no need of it
        _step += _isToBeTold ? 0 : 1;
        ForgetRefused();
    }

    /// <summary>The step is over: the next one is another.</summary>
    public void EndStep()
    {
        _isToBeTold = false;
        BeginStep();
    }

    private void ForgetRefused()
    {
        foreach (ColdRead read in _refused) forget(read);
        _refused.Clear();
    }
}
