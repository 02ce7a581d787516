namespace Tsavorite;

/// <summary>
/// How many want to be told of changes for one reason, and with the first and the last of them the switch.
///
/// store.N1  While anybody is counted it is switched on: the first is counted when the switch has been turned, the last is taken away before
///     it is turned back, both under the gate that all reasons share. So whoever looks at a key under its lock after
///     <see cref="Enter"/> is told of every change that comes after that look.
/// store.N2  Between the first and the last nobody takes the gate.
/// </summary>
/// <param name="gate">Held while a switch is turned; one for all reasons of an observer.</param>
/// <param name="turn">A switch has been turned; called under the gate.</param>
public sealed class Listeners(Lock gate, Action turn)
{
    private int _count;
    private volatile bool _on;

    /// <summary>Those who want to be told.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>True while somebody does, or is about to.</summary>
    public bool IsOn => _on;

    /// <summary>One more; on return every change is told.</summary>
    public void Enter()
    {
        if (StoreTestHooks.Has(PlantedFault.CountBeforeSwitch))
            EnterUnlocked();
        else if (!TryChange(1, least: 1))
            EnterFirst(); // store.N2
    }

    /// <summary>One less.</summary>
    public void Leave()
    {
        if (!TryChange(-1, least: 2))
            LeaveLast();
    }

    private bool TryChange(int by, int least)
    {
        int count = Count;
        while (count >= least)
        {
            StoreTestHooks.Yield(YieldPoint.Counted);
            int seen = Interlocked.CompareExchange(ref _count, count + by, count);
            if (seen == count)
                return true;
            count = seen;
        }
        return false;
    }

    private void EnterFirst()
    {
        StoreTestHooks.Yield(YieldPoint.Counted);
        TakeGate();
        if (!_on)
            Switch(on: true);
        Interlocked.Increment(ref _count); // store.N1
        gate.Exit();
    }

    private void LeaveLast()
    {
        StoreTestHooks.Yield(YieldPoint.Counted);
        TakeGate();
        Garnet.Common.Faults.Check.That(_on, "store.N1 while anybody is counted it is switched on");
        if (Interlocked.Decrement(ref _count) == 0)
            Switch(on: false);
        gate.Exit();
    }

    // The fault: who comes while the last one goes believes the switch it finds.
    private void EnterUnlocked()
    {
        Interlocked.Increment(ref _count);
        StoreTestHooks.Yield(YieldPoint.Counted);
        if (_on)
            return;
        TakeGate();
        Switch(on: true);
        gate.Exit();
    }

    private void Switch(bool on)
    {
        StoreTestHooks.Yield(YieldPoint.Counted);
        _on = on;
        turn();
        StoreTestHooks.Yield(YieldPoint.Switched);
    }

    // Under a test's scheduler the holder does not run until this thread yields.
    private void TakeGate()
    {
        if (!StoreTestHooks.Interleaves)
        {
            gate.Enter();
            return;
        }
        while (!gate.TryEnter()) StoreTestHooks.Yield(YieldPoint.Blocked);
    }
}
