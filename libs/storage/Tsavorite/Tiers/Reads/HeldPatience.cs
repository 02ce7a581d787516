using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// How long reads are waited for where others wait too, of a thread or a lock: they are not to pay for one key, nor for many of one command, script or transaction. What
/// a disk that answers takes is not held against it, however much it reads.
/// </summary>
internal sealed class HeldPatience
{
    /// <summary>For one read, and for all of a turn that are late; and for one where the device owes some near it already.</summary>
    public const long LongestUs = 1_000_000, LateUs = 100_000;
    private readonly List<ColdRead> _refused = [];
    private long _turn, _spentUs;

    /// <summary>Waits in place that there were, of all.</summary>
    public long Waits { get; private set; }

    /// <summary>Tells the turn that runs, a command's with all that it runs, from others; null: each read is for itself.</summary>
    public Func<long>? Turn { get; set; }

    /// <summary>True if the turn has waited for as long as it may: what is not there it does not get.</summary>
    public bool IsSpent
    {
        get
        {
            long turn = Turn is { } which ? which() : 0;
            if (Turn is null || turn != _turn)
                (_turn, _spentUs) = (turn, 0);
            return _spentUs >= LongestUs;
        }
    }

    /// <summary>How long a read of the turn may take.</summary>
    public long LeftUs(bool owesNear) => IsSpent ? 0 : Math.Min(owesNear ? LateUs : LongestUs, LongestUs - _spentUs);

    /// <summary>The turn has waited for so long; in vain or not: a disk that is only slow, or a machine that is, is no reason for an error.</summary>
    public void Spend(long microseconds, bool isInVain)
    {
        Waits++;
        _spentUs += isInVain ? microseconds : 0;
    }

    /// <summary>The step fails where it needs this, as if the device had not answered; nobody else does.</summary>
    public void Refuse(ColdRead read)
    {
        (read.State, read.Error) = (ColdReadState.Failed, Libc.ETIMEDOUT);
        _refused.Add(read);
    }

    /// <summary>Another step begins.</summary>
    public void ForgetRefused(Action<ColdRead> forget)
    {
        foreach (ColdRead read in _refused) forget(read);
        _refused.Clear();
    }
}
