using Garnet.Aof.Shipping;
using Garnet.Common;
using Tsavorite;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Threads that apply entries, each for the lanes whose number modulo the number of threads is its own: the entries of a lane
/// stay in order, and lanes do not depend on each other. Blocks go round a ring; every worker reads every block, and a block
/// is filled again when the slowest has left it. <see cref="Drain"/> is the barrier. With no threads, or with little in a block,
/// whoever drains does the work: waking a thread costs more than some hundred entries.
/// </summary>
internal sealed class ReplayWorkers : IDisposable
{
    private const int BlocksBeyondWorkers = 2, EntriesWorthWaking = 256;

    private readonly object _gate = new();
    private readonly Store _store;
    private readonly ReplayTable _table;
    private readonly ReplayBlock[] _ring;
    private readonly long[] _done;
    private readonly Thread[] _threads;
    private readonly Sketch? _sketch;
    private readonly ColdLosses? _losses;
    private readonly StoreSession _session;
    private readonly EntryReplayer _here;
    private long _filled;
    private bool _ends;
    private GarnetException? _failure;

    public ReplayWorkers(Store store, ReplayTable table, int threads, Sketch? sketch = null, ColdLosses? losses = null)
    {
        _store = store;
        _table = table;
        _sketch = sketch;
        _losses = losses;
        _session = store.OpenSession();
        _here = new EntryReplayer(store, table, _session, sketch) { Losses = losses };
        _ring = new ReplayBlock[threads + BlocksBeyondWorkers];
        for (int i = 0; i < _ring.Length; i++) _ring[i] = new ReplayBlock();
        _done = new long[threads];
        _threads = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            int number = i;
            _threads[i] = new Thread(() => Work(number)) { Name = "replay " + number, IsBackground = true };
            _threads[i].Start();
        }
    }

    /// <summary>The block to fill; <see cref="Submit"/> has made sure that nobody reads it.</summary>
    public ReplayBlock Open()
    {
        lock (_gate)
        {
            if (_failure != null)
                throw _failure;
            return _ring[_filled % _ring.Length];
        }
    }

    /// <summary>Hands the open block over.</summary>
    public void Submit()
    {
        lock (_gate)
        {
            _filled++;
            Monitor.PulseAll(_gate);
            while (_failure is null && _filled - Slowest() >= _ring.Length) Monitor.Wait(_gate);
            if (_failure != null)
                throw _failure; // another worker may still read the block
            _ring[_filled % _ring.Length].Clear();
        }
    }

    /// <summary>Waits until everything handed over is applied.</summary>
    public void Drain()
    {
        ReplayBlock open = Open();
        if (_threads.Length == 0 || open.Entries < EntriesWorthWaking)
            WaitForAll();
        if (_threads.Length == 0 || open.Entries < EntriesWorthWaking)
            ApplyHere(open);
        else
            Submit();
        WaitForAll();
    }

    private void WaitForAll()
    {
        lock (_gate)
        {
            while (_failure is null && Slowest() < _filled) Monitor.Wait(_gate);
            if (_failure != null)
                throw _failure;
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _ends = true;
            Monitor.PulseAll(_gate);
        }
        foreach (Thread thread in _threads) thread.Join();
        foreach (ReplayBlock block in _ring) block.Dispose();
        _session.Dispose();
    }

    private long Slowest() => _done.Length == 0 ? _filled : _done.Min();

    /// <summary>Applies the open block in its order, on the caller's thread; all before it is applied.</summary>
    public void ApplyHere(ReplayBlock block)
    {
        _here.Apply(block, worker: 0, workers: 1);
        block.Clear();
    }

    private void Work(int number)
    {
        using StoreSession session = _store.OpenSession();
        session.NowMs = 0; // nothing expires by the replayer's own clock
        var replayer = new EntryReplayer(_store, _table, session, _sketch) { Losses = _losses };
        while (TryTake(number) is { } block)
        {
            try
            {
                replayer.Apply(block, number, _threads.Length);
            }
            catch (GarnetException e)
            {
                lock (_gate) _failure ??= e;
            }
            lock (_gate)
            {
                _done[number]++;
                Monitor.PulseAll(_gate);
            }
        }
    }

    private ReplayBlock? TryTake(int number)
    {
        lock (_gate)
        {
            while (!_ends && _failure is null && _done[number] == _filled) Monitor.Wait(_gate);
            return _ends || _failure != null ? null : _ring[_done[number] % _ring.Length];
        }
    }
}
