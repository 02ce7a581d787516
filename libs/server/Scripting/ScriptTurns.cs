using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Scripting;

/// <summary>
/// Turns of reactors and scripts: any number of reactors run batches of commands, or one of them runs a script, or a command that
/// changes what all of them go by. Without it a reactor would wait for a lock that a long script holds, and could not tell its clients
/// that the server is busy.
///
/// scripting.G1  A reactor that waits here holds no lock and is in no command; it goes on when the script has ended, or, once that has run
///     for longer than busy-reply-threshold, without touching the store.
/// scripting.G2  Whoever begins says so before it looks whether somebody else has begun (<see cref="Turns"/>).
/// scripting.G3  While a script runs, no other reactor has or awaits the locks of keys: the script may take its own in any order.
/// scripting.G4  What a database's number stands for, and that a pause begins, changes only in a turn of its own: what a batch has looked up of
///     them is true to the end of the batch, whatever locks it takes in between, and who has begun a pause knows that no batch goes on
///     that has not seen it. A command in a script or a transaction finds the turn taken by it; a transaction takes it before its locks.
/// </summary>
/// <param name="all">The turns of all workers.</param>
/// <param name="isTooLong">True while a script has run for longer than others should wait without a word.</param>
internal sealed class ScriptTurns(Func<IEnumerable<Turn>> all, Func<bool> isTooLong) : IDisposable
{
    private const int SpinsMax = 100, WaitMsMax = 5;

    private readonly Turns _turns = new(all);
    private readonly ManualResetEventSlim _free = new();
    private int _waiting;

    /// <summary>True if the reactor runs a script, or a command that has its turn alone.</summary>
    internal bool IsHeldBy(Worker worker) => _turns.IsHeldBy(worker.Turn);

    /// <summary>Before commands run. False if a script has run too long.</summary>
    internal bool TryEnter(Worker worker)
    {
        while (!_turns.IsHeldBy(worker.Turn))
        {
            if (_turns.TryEnter(worker.Turn))
                return true;
            if (!AwaitEnd())
                return false;
        }

        return true; // what runs out of its own script
    }

    /// <summary>After them.</summary>
    internal void Leave(Worker worker)
    {
        if (!_turns.IsHeldBy(worker.Turn))
            _turns.Leave(worker.Turn);
    }

    /// <summary>Before a script, by a reactor that has entered: waits until the others have left. False if a script has run too long; then the reactor has left.</summary>
    internal bool TryTake(Worker worker, out AloneTurn turn)
    {
        turn = default;
        while (!_turns.TryTake(worker.Turn))
        {
            if (!AwaitEnd())
                return false;
        }

        turn = new AloneTurn(this, worker);
        return true;
    }

    /// <summary>
    /// Before a command changes what all go by (scripting.G4). False if a script has run too long. Whoever has the turn already keeps it behind
    /// the end of what is returned.
    /// </summary>
    internal bool TryBegin(Worker worker, out AloneTurn turn)
    {
        turn = default;
        return _turns.IsHeldBy(worker.Turn) || TryTake(worker, out turn);
    }

    /// <summary>After the script: the reactor goes on with commands.</summary>
    private void Release(Worker worker)
    {
        _turns.Release(worker.Turn);
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _waiting) > 0)
            _free.Set();
    }

    /// <inheritdoc/>
    public void Dispose() => _free.Dispose();

    // False: it has run too long. A wake-up may be lost to another who waits: then the next look is not far.
    private bool AwaitEnd()
    {
        for (int spins = 0; spins < SpinsMax; spins++)
        {
            if (!_turns.IsTaken)
                return true;
            Thread.SpinWait(10);
        }

        if (isTooLong())
            return false;
        Interlocked.Increment(ref _waiting);
        _free.Reset();
        if (_turns.IsTaken)
            _free.Wait(WaitMsMax);
        Interlocked.Decrement(ref _waiting);
        return true;
    }

    /// <summary>A reactor's turn alone, for a using statement: given back whatever happens, else no other would ever run a command again. The default is nobody's.</summary>
    internal readonly struct AloneTurn(ScriptTurns gate, Worker? worker) : IDisposable
    {
        public void Dispose()
        {
            if (worker is not null)
                gate.Release(worker);
        }
    }
}
