using Garnet.Aof.Disk;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Persistence;

/// <summary>A disk in front of another one on which one kind of file cannot be made or opened once it is armed: whoever tries waits for that, and gets the failure.</summary>
internal sealed class FailingFiles(IDisk inner, Exception failure, Func<string, bool> concerns) : IDisk
{
    private readonly ManualResetEventSlim _armed = new();

    internal void Arm() => _armed.Set();

    public string Path => inner.Path;

    public IReadOnlyList<string> List() => inner.List();

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered) => Judged(name).Create(name, bytes, caching);

    public IDiskFile Open(string name) => Judged(name).Open(name);

    public void Rename(string from, string to) => inner.Rename(from, to);

    public void Delete(string name) => inner.Delete(name);

    public byte[] MarkOf(string name) => inner.MarkOf(name);

    public void SyncDirectory() => inner.SyncDirectory();

    private IDisk Judged(string name)
    {
        if (!concerns(name)) return inner;
        _armed.Await();
        throw failure;
    }
}
