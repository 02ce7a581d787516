using Garnet.Common.Test;

namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Runs bodies on threads of which only one is ever awake: at each yield point of the engine a chooser says who goes
/// on. A thread that finds a lock taken passes the turn on; if nobody but waiting threads is left, that is a deadlock.
/// </summary>
internal sealed class Cooperation : IDisposable
{
    private const int StepsMax = 20_000;
    private readonly Strand[] _strands;
    private readonly SemaphoreSlim _ended = new(0);
    private readonly OneCore _core = new(); // before the threads: they are where their starter is
    private Func<int, int, int> _choose = static (_, running) => running;
    private Exception? _failure;
    private int _living, _blocked;

    public Cooperation(int threads)
    {
        _strands = Enumerable.Range(0, threads).Select(i => new Strand(i, this)).ToArray();
        StoreTestHooks.OnYield = At;
    }

    /// <summary>Yield points passed in the last run.</summary>
    public int Steps { get; private set; }

    /// <summary>
    /// Runs the bodies, beginning with <paramref name="first"/>; <paramref name="choose"/> gets the step's number and
    /// the thread that runs and says who runs next. Rethrows the first failure.
    /// </summary>
    public void Run(Action[] bodies, int first, Func<int, int, int> choose)
    {
        _choose = choose;
        _failure = null;
        _living = bodies.Length;
        _blocked = Steps = 0;
        for (int i = 0; i < bodies.Length; i++) _strands[i].Body = bodies[i];
        _strands[first].Go.Release();
        _ended.Await();
        if (_failure != null) throw new InvalidOperationException(_failure.Message, _failure);
    }

    /// <summary>Runs a part of a body without yielding (but for taken locks).</summary>
    public static void Quietly(Action part)
    {
        Strand? strand = Strand.Current;
        if (strand != null) strand.Quiet = true;
        part();
        if (strand != null) strand.Quiet = false;
    }

    public void Dispose()
    {
        StoreTestHooks.OnYield = null;
        foreach (Strand strand in _strands) strand.Stop();
        _ended.Dispose();
        _core.Dispose();
    }

    private void At(YieldPoint point)
    {
        Strand? running = Strand.Current;
        if (running == null || running.Owner != this) return;
        if (_failure != null) throw new OperationCanceledException();
        bool blocked = point == YieldPoint.Blocked;
        if (!blocked && running.Quiet) return;
        _blocked = blocked ? _blocked + 1 : 0;
        if (_blocked > 3 * _living) throw new InvalidOperationException("deadlock: every thread waits for a lock");
        if (++Steps > StepsMax) throw new InvalidOperationException("no end in sight");
        Strand next = blocked ? After(running) : _strands[_choose(Steps, running.Number)];
        if (next == running || next.Body == null) return;
        next.Go.Release();
        running.Go.Await();
        if (_failure != null) throw new OperationCanceledException();
    }

    private Strand After(Strand running)
    {
        for (int i = 1; i < _strands.Length; i++)
        {
            Strand next = _strands[(running.Number + i) % _strands.Length];
            if (next.Body != null) return next;
        }
        return running;
    }

    private void End(Strand strand, Exception? failure)
    {
        _failure ??= failure is OperationCanceledException ? null : failure;
        strand.Quiet = false;
        strand.Body = null;
        if (--_living == 0) _ended.Release();
        else After(strand).Go.Release();
    }

    /// <summary>One of the threads.</summary>
    private sealed class Strand
    {
        [ThreadStatic] private static Strand? t_current;
        private readonly Thread _thread;
        private volatile bool _stops;

        public Strand(int number, Cooperation owner)
        {
            Number = number;
            Owner = owner;
            _thread = new Thread(Live) { IsBackground = true };
            _thread.Start();
        }

        public static Strand? Current => t_current;
        public int Number { get; }
        public Cooperation Owner { get; }
        public SemaphoreSlim Go { get; } = new(0);
        public Action? Body { get; set; }
        public bool Quiet { get; set; }

        public void Stop()
        {
            _stops = true;
            Go.Release();
            _thread.Await();
            Go.Dispose();
        }

        private void Live()
        {
            t_current = this;
            while (true)
            {
                Go.Await();
                if (_stops) return;
                Owner.End(this, Attempt(Body!));
            }
        }

        // Whatever a body throws is the run's failure, told by the thread that waits for it.
        private static Exception? Attempt(Action body)
        {
            try
            {
                body();
                return null;
            }
            catch (Exception failure) when (failure is not OutOfMemoryException)
            {
                return failure;
            }
        }
    }
}
