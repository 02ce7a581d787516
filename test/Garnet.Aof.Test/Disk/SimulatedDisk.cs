using Garnet.Aof.Disk;

namespace Garnet.Aof.Test.Disk;

/// <summary>The machine went down at this operation.</summary>
internal sealed class SimulatedCrashException(int operation) : Exception($"crash at operation {operation}");

/// <summary>
/// A disk in memory that knows what is durable and what is not: of every file a synced and a current image, of the directory the
/// synced names and the operations since. <see cref="Crash"/> gives the disk as it may be found after a power cut: unsynced
/// sectors of 512 bytes kept, lost or mixed; unsynced operations on the directory kept up to some point. The same seed gives
/// the same disk.
/// </summary>
internal sealed class SimulatedDisk : IDisk
{
    private readonly SortedDictionary<string, SimulatedFile> _names = new(StringComparer.Ordinal);
    private readonly List<Action<SortedDictionary<string, SimulatedFile>>> _unsynced = [];
    private SortedDictionary<string, SimulatedFile> _synced = new(StringComparer.Ordinal);
    private bool _down;

    public string Path => "/simulated";
    /// <summary>Operations that change something, so far.</summary>
    public int Operations { get; private set; }
    /// <summary>The machine goes down at the operation of this number; 0 = never.</summary>
    public int CrashAt { get; set; }
    /// <summary>The write of this number fails; 0 = none.</summary>
    public int FailWrite { get; set; }
    /// <summary>The sync of this number fails; 0 = none.</summary>
    public int FailSync { get; set; }
    /// <summary>From the write of this number on the disk takes no more, or a part of each; 0 = never.</summary>
    public int FullFrom { get; set; }
    /// <summary>So many writes find it so, then there is room again.</summary>
    public int FullFor { get; set; }
    /// <summary>The last write found the disk full.</summary>
    public bool IsFull => FullFrom > 0 && Writes >= FullFrom && Writes < FullFrom + FullFor;
    /// <summary>Writes have found it full.</summary>
    public bool WasFull => FullFrom > 0 && Writes >= FullFrom;
    /// <summary>Bytes that fit on the disk.</summary>
    public long Capacity { get; set; } = long.MaxValue;
    /// <summary>Every change fails from now on: nobody is interested any more.</summary>
    public bool IsGone { get; set; }
    /// <summary>A write or a sync has failed as it was told to.</summary>
    public bool FailedOnce => (FailWrite > 0 && Writes >= FailWrite) || (FailSync > 0 && Syncs >= FailSync);
    public int Writes { get; private set; }
    public int Syncs { get; private set; }

    public IReadOnlyList<string> List() => [.. _names.Keys];

    public IDiskFile Create(string name, long bytes, FileCaching caching = FileCaching.Buffered)
    {
        if (_names.ContainsKey(name)) throw new DiskException("create", name, "it exists", false);
        Count("create", name);
        Charge(bytes, "create", name);
        var file = new SimulatedFile(this, name, new byte[bytes]);
        Change(names => names[name] = file);
        AfterCount();
        return new Handle(file, caching == FileCaching.Direct ? SimulatedFile.DirectAlignment : 1);
    }

    public IDiskFile Open(string name) =>
        _names.TryGetValue(name, out SimulatedFile? file) ? new Handle(file, 1)
            : throw new DiskException("open", name, "it does not exist", false);

    public void Rename(string from, string to)
    {
        Count("rename", from);
        if (!_names.ContainsKey(from)) throw new DiskException("rename", from, "it does not exist", false);
        Change(names =>
        {
            if (names.Remove(from, out SimulatedFile? file)) names[to] = file;
        });
        AfterCount();
    }

    public void Delete(string name)
    {
        Count("delete", name);
        if (!_names.ContainsKey(name)) throw new DiskException("delete", name, "it does not exist", false);
        Change(names => names.Remove(name));
        AfterCount();
    }

    public byte[] MarkOf(string name) => _names.TryGetValue(name, out SimulatedFile? file) ? BitConverter.GetBytes(file.Number) : [];

    public void SyncDirectory()
    {
        Count("sync", ".");
        AfterCount();
        _synced = new(_names, StringComparer.Ordinal);
        _unsynced.Clear();
    }

    /// <summary>The disk as found after a power cut. Seed 0 loses all that was not synced, seed 1 keeps all, others mix.</summary>
    public SimulatedDisk Crash(int seed)
    {
        var random = new Random(seed);
        var names = new SortedDictionary<string, SimulatedFile>(_synced, StringComparer.Ordinal);
        int kept = seed switch { 0 => 0, 1 => _unsynced.Count, _ => random.Next(_unsynced.Count + 1) };
        foreach (Action<SortedDictionary<string, SimulatedFile>> change in _unsynced.Take(kept)) change(names);
        var found = new SimulatedDisk();
        foreach ((string name, SimulatedFile file) in names) found.PutOwn(name, file.AfterCrash(seed, random), file.Number);
        return found;
    }

    /// <summary>A copy on which everything is durable.</summary>
    public SimulatedDisk Copy()
    {
        var copy = new SimulatedDisk();
        foreach ((string name, SimulatedFile file) in _names) copy.PutOwn(name, file.Bytes.ToArray(), file.Number);
        return copy;
    }

    /// <summary>Puts a durable file there: a new one, or the one of that number.</summary>
    public void Put(string name, byte[] bytes, long number = 0) => PutOwn(name, [.. bytes], number);

    private void PutOwn(string name, byte[] bytes, long number)
    {
        var file = new SimulatedFile(this, name, bytes, number, isSynced: true);
        _names[name] = file;
        _synced[name] = file;
    }

    public byte[] Get(string name) => _names[name].Bytes.ToArray();

    internal void Count(string operation, string name)
    {
        if (IsGone) throw new DiskException(operation, name, "the disk is gone", false);
        if (_down) throw new SimulatedCrashException(Operations);
        Operations++;
        if (operation == "write" && ++Writes == FailWrite) throw new DiskException(operation, name, "input/output error", false);
        if (operation == "sync" && ++Syncs == FailSync) throw new DiskException(operation, name, "input/output error", false);
    }

    /// <summary>Goes down at the chosen operation: a change has been begun then, a sync has done nothing yet.</summary>
    internal void AfterCount()
    {
        if (Operations != CrashAt) return;
        _down = true;
        throw new SimulatedCrashException(Operations);
    }

    internal void Charge(long bytes, string operation, string name)
    {
        long used = _names.Values.Sum(static file => (long)file.Bytes.Length);
        if (used + bytes > Capacity) throw new DiskException(operation, name, "no space left on device", true);
    }

    private void Change(Action<SortedDictionary<string, SimulatedFile>> change)
    {
        change(_names);
        _unsynced.Add(change);
    }

    private sealed class Handle(SimulatedFile file, int alignment) : IDiskFile
    {
        public long Length => file.Bytes.Length;
        public long DataEnd => file.Bytes.LastIndexOfAnyExcept((byte)0) + 1;
        public int Alignment => alignment;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            if ((offset | (long)bytes.Length) % alignment != 0) throw new InvalidOperationException("a write is not aligned");
            file.Write(offset, bytes);
        }

        public int Read(long offset, Span<byte> to) => file.Read(offset, to);
        public void Sync() => file.Sync();
        public void SetLength(long bytes) => file.SetLength(bytes);
        public void Dispose() { }
    }
}
