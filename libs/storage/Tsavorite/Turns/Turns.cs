namespace Tsavorite;

/// <summary>
/// Turns: any number of threads run batches, or one of them has the turn alone. What changes only in a turn alone (what a database's
/// number stands for, <see cref="NamespaceTable"/>) is true from the beginning of a batch to its end, whatever locks are taken in
/// between; a batch pays one exchange for it.
///
/// store.G1  Whoever begins says so before it looks whether somebody else has begun: of two at least one sees the other.
/// </summary>
/// <param name="all">Those who take turns.</param>
public sealed class Turns(Func<IEnumerable<Turn>> all)
{
    private Turn? _holder;

    /// <summary>True while somebody has the turn alone, or waits for the others' batches to end.</summary>
    public bool IsTaken => Volatile.Read(ref _holder) is not null;

    /// <summary>True if it is this one.</summary>
    public bool IsHeldBy(Turn turn) => Volatile.Read(ref _holder) == turn;

    /// <summary>Begins a batch; false if somebody has the turn alone.</summary>
    public bool TryEnter(Turn turn)
    {
        if (StoreTestHooks.Has(PlantedFault.BeginUnsaid))
            return BeginUnsaid(turn);
        Interlocked.Exchange(ref turn.Runs, 1); // store.G1
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
        if (!IsTaken)
            return true;
        Leave(turn);
        return false;
    }

    /// <summary>Ends it.</summary>
    public void Leave(Turn turn)
    {
        Volatile.Write(ref turn.Runs, 0);
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
    }

    /// <summary>Ends the batch, if there is one, and takes the turn alone, once the others' batches have ended; false if somebody else has it.</summary>
    public bool TryTake(Turn turn)
    {
        Volatile.Write(ref turn.Runs, 0);
        if (Interlocked.CompareExchange(ref _holder, turn, null) is not null)
            return false;
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
        var spin = default(SpinWait);
        foreach (Turn other in all())
        {
            while (Volatile.Read(ref other.Runs) != 0)
            {
                if (StoreTestHooks.Interleaves)
                    StoreTestHooks.Yield(YieldPoint.Blocked);
                else
                    spin.SpinOnce(sleep1Threshold: -1);
            }
        }
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
        return true;
    }

    /// <summary>Gives the turn back and goes on with a batch.</summary>
    public void Release(Turn turn)
    {
        Volatile.Write(ref turn.Runs, 1);
        Volatile.Write(ref _holder, null);
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
    }

    // The fault: it looks first.
    private bool BeginUnsaid(Turn turn)
    {
        if (IsTaken)
            return false;
        StoreTestHooks.Yield(YieldPoint.TurnSaid);
        Interlocked.Exchange(ref turn.Runs, 1);
        return true;
    }
}
