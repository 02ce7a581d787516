using Garnet.Aof.Disk;
using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Pm;

namespace Garnet.Aof.Test.Simulation;

/// <summary>
/// A disk beside persistent memory, as the real one with it: files of the log that are written before replies have rings. Each store of
/// lines and each fence counts as an operation of the disk, so that the machine goes down there too; nobody drains but who is told to.
/// </summary>
internal sealed class PmDisk : IDisk
{
    /// <summary>Threads: who begins and ends all, who drains, those who wait for a change, and the log's own.</summary>
    public const int Main = 0, Drainer = 1, Reactor = 2, FirstTurner = 3;

    private readonly SimulatedDisk _inner;
    private readonly PmSim _memory;
    private readonly PmRings _rings;
    private readonly Dictionary<string, PmFile> _open = new(StringComparer.Ordinal);

    public PmDisk(SimulatedDisk inner, PmSim memory)
    {
        (_inner, _memory) = (inner, memory);
        memory.OnStep = () =>
        {
            inner.Count("store", "ring");
            inner.AfterCount();
        };
        _rings = new PmRings(memory, "range", trustsEmulated: false);
    }

    public string Path => _inner.Path;
    public IReadOnlyList<string> List() => _inner.List();
    public void Rename(string from, string to) => _inner.Rename(from, to);
    public void Delete(string name) => _inner.Delete(name);
    public byte[] MarkOf(string name) => _inner.MarkOf(name);
    public void SyncDirectory() => _inner.SyncDirectory();
    public IReadOnlyList<string> Complete() => _rings.Complete(_inner);
    public void Expect(int files) => _rings.Divide(files, Path);

    public IDiskFile Create(string name, long bytes, FileCaching caching)
    {
        if (caching != FileCaching.Direct || _rings.TryCreate(name, () => _inner.Create(name, bytes)) is not { } file) return _inner.Create(name, bytes, caching);
        return _open[name] = file;
    }

    public IDiskFile Open(string name) =>
        _open.TryGetValue(name, out PmFile? file) && file.IsOpen ? new PmReader(file, _inner.Open(name)) : _inner.Open(name);

    /// <summary>What a thread does.</summary>
    public void As(int thread, Action turn)
    {
        int before = _memory.Thread;
        _memory.Thread = thread;
        try
        {
            turn();
        }
        finally
        {
            _memory.Thread = before;
        }
    }

    /// <summary>The thread that drains has its turn. True if there was something to drain.</summary>
    public bool Drain(Random random)
    {
        PmFile[] files = [.. _open.Values.Where(static file => file.IsOpen)];
        if (files.Length == 0) return false;
        try
        {
            As(Drainer, files[random.Next(files.Length)].Drain);
        }
        catch (DiskException)
        {
            // who writes next finds out
        }
        return true;
    }
}
