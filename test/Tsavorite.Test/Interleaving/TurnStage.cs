using System.Runtime.InteropServices;

namespace Tsavorite.Test.Interleaving;

/// <summary>A store with a key in each of two databases, and threads that take turns.</summary>
internal sealed unsafe class TurnStage : IDisposable
{
    private const int KeyRoom = 64, BatchesOfOne = 3;
    private readonly Store _store = new(Stage.Settings());
    private readonly byte* _keys = (byte*)NativeMemory.AllocZeroed(KeyRoom * 8);
    private readonly StoreSession[] _sessions;
    private readonly Turn[] _turnOf;
    private readonly Turns _turns;
    private bool _paused;
    private int _writes;

    public TurnStage(int threads)
    {
        _sessions = [.. Enumerable.Range(0, threads).Select(_ => _store.OpenSession())];
        foreach (StoreSession session in _sessions) session.NowMs = Stage.NowMs;
        _turnOf = [.. Enumerable.Range(0, threads).Select(static _ => new Turn())];
        _turns = new Turns(() => _turnOf);
        Put(0, Key(0, 'a', 0));
        Put(0, Key(0, 'a', 1));
    }

    /// <summary>What a thread has seen that cannot be, null for nothing.</summary>
    public string? Seen { get; private set; }

    /// <summary>Moves a key of a database to another name, each name looked up by itself.</summary>
    public void Move(int thread)
    {
        Begin(thread);
        KeyRef from = Key(thread, 'a', 0);
        StoreTestHooks.Yield(YieldPoint.Value);
        KeyRef to = Key(thread + 4, 'b', 0);
        StoreSession session = _sessions[thread];
        session.Lock([from, to]);
        SlowRead read = default;
        if (session.Read(from, ref read) == Outcome.Done)
        {
            Put(thread, to);
            DeleteKey delete = default;
            session.Modify(from, ref delete);
        }
        session.Unlock();
        _turns.Leave(_turnOf[thread]);
    }

    /// <summary>Swaps the databases, or empties one.</summary>
    public void Change(int thread, bool flushes)
    {
        BeginAlone(thread);
        if (flushes) _store.Namespaces.Flush(0, wait: false);
        else _store.Namespaces.Swap(0, 1);
        _turns.Release(_turnOf[thread]);
        _turns.Leave(_turnOf[thread]);
    }

    /// <summary>Batches that count, unless there is a pause when they begin.</summary>
    public void Count(int thread)
    {
        for (int i = 0; i < BatchesOfOne; i++)
        {
            Begin(thread);
            bool paused = _paused;
            StoreTestHooks.Yield(YieldPoint.Value);
            if (!paused) _writes++;
            _turns.Leave(_turnOf[thread]);
        }
    }

    /// <summary>Begins a pause, and looks whether anybody counts after that.</summary>
    public void Pause(int thread)
    {
        BeginAlone(thread);
        _paused = true;
        _turns.Release(_turnOf[thread]);
        _turns.Leave(_turnOf[thread]);
        int writes = _writes;
        for (int i = 0; i < BatchesOfOne; i++) StoreTestHooks.Yield(YieldPoint.Value);
        if (_writes != writes) Seen = $"{_writes - writes} were counted after the pause had begun";
    }

    /// <summary>Whether a key lies where nobody put it, null if not.</summary>
    public string? Wrong(bool flushed)
    {
        long[] keys = [_store.Count(_store.Namespaces.Id(0)), _store.Count(_store.Namespaces.Id(1))];
        return keys[0] == (flushed ? 0 : 1) && keys[1] == 1 ? null : $"{keys[0]} and {keys[1]} keys";
    }

    public void Dispose()
    {
        foreach (StoreSession session in _sessions) session.Dispose();
        _store.Dispose();
        NativeMemory.Free(_keys);
    }

    private void Begin(int thread)
    {
        while (!_turns.TryEnter(_turnOf[thread])) StoreTestHooks.Yield(YieldPoint.Blocked);
    }

    private void BeginAlone(int thread)
    {
        while (!_turns.TryTake(_turnOf[thread])) StoreTestHooks.Yield(YieldPoint.Blocked);
    }

    private void Put(int thread, in KeyRef key)
    {
        SlowPut put = new() { Letter = (byte)'v', Bytes = 8 };
        _sessions[thread].Modify(key, ref put);
    }

    private KeyRef Key(int buffer, char name, int database)
    {
        byte* bytes = _keys + (buffer * KeyRoom);
        *bytes = (byte)name;
        return _store.Key(bytes, 1, _store.Namespaces.Id(database));
    }
}
