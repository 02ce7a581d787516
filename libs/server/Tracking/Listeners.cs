namespace Garnet.Server.Tracking;

/// <summary>
/// How many want to be told of changes for one reason, and with the first and the last of them the switch.
///
/// V1  While anybody is counted it is switched on: the first is counted when the switch has been turned, the last is taken away before
///     it is turned back, both under the gate that all reasons share. So whoever looks at a key under its lock after
///     <see cref="Enter"/> is told of every change that comes after that look.
/// V2  Between the first and the last nobody takes the gate.
/// </summary>
internal sealed class Listeners(Lock gate, Action turn)
{
    private int _count;
    private volatile bool _on;

    /// <summary>Those who want to be told.</summary>
    internal int Count => Volatile.Read(ref _count);

    /// <summary>True while somebody does, or is about to.</summary>
    internal bool IsOn => _on;

    /// <summary>One more; on return every change is told.</summary>
    internal void Enter()
    {
        if (!TryChange(1, least: 1)) // V2
            EnterFirst();
    }

    /// <summary>One less.</summary>
    internal void Leave()
    {
        if (!TryChange(-1, least: 2))
            LeaveLast();
    }

    private bool TryChange(int by, int least)
    {
        int count = Count;
        while (count >= least)
        {
            int seen = Interlocked.CompareExchange(ref _count, count + by, count);
            if (seen == count)
                return true;
            count = seen;
        }

        return false;
    }

    private void EnterFirst()
    {
        lock (gate)
        {
            if (!_on)
                Turn(on: true);
            Interlocked.Increment(ref _count); // V1
        }
    }

    private void LeaveLast()
    {
        lock (gate)
        {
            Garnet.Common.Faults.Check.That(_on, "V1 while anybody is counted it is switched on");
            if (Interlocked.Decrement(ref _count) == 0)
                Turn(on: false);
        }
    }

    private void Turn(bool on)
    {
        _on = on;
        turn();
    }
}
