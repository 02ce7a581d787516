using System.Runtime.InteropServices;

namespace Tsavorite.Test.Interleaving;

/// <summary>A store with one key, two reasons to listen to it, and an observer that counts what it is told.</summary>
internal sealed unsafe class ListeningStage : IKeyObserver, IDisposable
{
    private const int KeyRoom = 64;
    private readonly Store _store = new(Stage.Settings());
    private readonly byte* _keys = (byte*)NativeMemory.AllocZeroed(KeyRoom * 8);
    private readonly StoreSession[] _sessions;
    private readonly Listeners _watchers, _waiters;
    private int _told;

    public ListeningStage(int threads)
    {
        _sessions = [.. Enumerable.Range(0, threads).Select(_ => _store.OpenSession())];
        foreach (StoreSession session in _sessions) session.NowMs = Stage.NowMs;
        var gate = new Lock();
        _watchers = new Listeners(gate, Turn);
        _waiters = new Listeners(gate, Turn);
        Cooperation.Quietly(() => Write(0));
    }

    /// <summary>What somebody who listened was not told, null for nothing.</summary>
    public string? Missed { get; private set; }

    /// <summary>Listens, looks, looks again: if the key has changed in between, that was told.</summary>
    public void Watch(int thread)
    {
        _watchers.Enter();
        string before = Look(thread, out int toldBefore);
        string after = Look(thread, out int toldAfter);
        if (after != before && toldAfter == toldBefore) Missed = $"the value went from {before} to {after}, and nothing was told";
        _watchers.Leave();
    }

    /// <summary>Listens, looks, changes the key, looks again.</summary>
    public void WatchAndChange(int thread)
    {
        _watchers.Enter();
        Look(thread, out int toldBefore);
        Write(thread);
        Look(thread, out int toldAfter);
        if (toldAfter == toldBefore) Missed = "a change of its own was not told";
        _watchers.Leave();
    }

    public void BeginAndEnd(bool forAnotherReason)
    {
        Listeners listeners = forAnotherReason ? _waiters : _watchers;
        listeners.Enter();
        listeners.Leave();
    }

    public void Write(int thread)
    {
        SlowPut put = new() { Letter = (byte)'w', Bytes = 8, Appends = true };
        _sessions[thread].Modify(Key(thread), ref put);
    }

    public void OnChange(in KeyRef key, KeyChange change) => _told++; // under the key's lock

    public void OnFlush(int database)
    {
    }

    public void OnSwap(int first, int second)
    {
    }

    public void Dispose()
    {
        foreach (StoreSession session in _sessions) session.Dispose();
        _store.Dispose();
        NativeMemory.Free(_keys);
    }

    private void Turn() => _store.Observe(_watchers.IsOn || _waiters.IsOn ? this : null);

    private string Look(int thread, out int told)
    {
        KeyRef key = Key(thread);
        StoreSession session = _sessions[thread];
        session.Lock([key]);
        SlowRead read = default;
        session.Read(key, ref read);
        told = _told;
        session.Unlock();
        return read.Text;
    }

    private KeyRef Key(int thread)
    {
        byte* bytes = _keys + (thread * KeyRoom);
        *bytes = (byte)'k';
        return _store.Key(bytes, 1, _store.Namespaces.Id(0));
    }
}
