using Garnet.Aof.Disk;

namespace Garnet.Server.Test.Persistence;

/// <summary>How a disk refuses a step.</summary>
internal enum Harm
{
    /// <summary>There is no space until somebody makes some.</summary>
    Full,
    /// <summary>There is space for a part of a write.</summary>
    Short,
    /// <summary>An error of the device, once.</summary>
    FailsOnce,
    /// <summary>An error of the device, again and again.</summary>
    FailsAlways,
}

/// <summary>A disk in front of another one, that refuses one kind of step with one kind of file while it is armed.</summary>
internal sealed class HarmedDisk(IDisk inner, string step, Func<string, bool> concerns, Harm harm) : IDisk
{
    private volatile bool _isArmed;
    private int _refused;

    /// <summary>Steps refused so far.</summary>
    internal int Refused => Volatile.Read(ref _refused);

    internal void Arm() => _isArmed = true;

    internal void Disarm() => _isArmed = false;

    public string Path => inner.Path;

    public IReadOnlyList<string> List() => inner.List();

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        Judge("create", name);
        return new File(this, name, inner.Create(name, bytes, caching));
    }

    public IDiskFile Open(string name) => inner.Open(name);

    public void Rename(string from, string to)
    {
        Judge("rename", to);
        inner.Rename(from, to);
    }

    public void Delete(string name) => inner.Delete(name);

    public byte[] MarkOf(string name) => inner.MarkOf(name);

    public void SyncDirectory() => inner.SyncDirectory();

    private void Judge(string what, string name)
    {
        if (IsRefused(what, name)) throw Refusal(what, name);
    }

    private bool IsRefused(string what, string name) =>
        _isArmed && what == step && concerns(name) && (Interlocked.Increment(ref _refused) == 1 || harm != Harm.FailsOnce);

    private DiskException Refusal(string what, string name) => harm is Harm.Full or Harm.Short
        ? new DiskException(what, name, "No space left on device", isFull: true) : new DiskException(what, name, "Input/output error", isFull: false);

    private sealed class File(HarmedDisk disk, string name, IDiskFile inner) : IDiskFile
    {
        public long Length => inner.Length;
        public int Alignment => inner.Alignment;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            if (!disk.IsRefused("write", name))
            {
                inner.Write(offset, bytes);
                return;
            }

            int part = bytes.Length / 2 / inner.Alignment * inner.Alignment;
            if (disk.IsShort && part > 0) inner.Write(offset, bytes[..part]);
            throw disk.Refusal("write", name);
        }

        public int Read(long offset, Span<byte> to) => inner.Read(offset, to);

        public void Sync()
        {
            disk.Judge("sync", name);
            inner.Sync();
        }

        public void SetLength(long bytes) => inner.SetLength(bytes);

        public void Dispose() => inner.Dispose();
    }

    private bool IsShort => harm == Harm.Short;
}
