using Garnet.Aof.Disk;

namespace Garnet.Aof.Test.Disk;

/// <summary>A file of a <see cref="SimulatedDisk"/>: what a reader sees, what is durable, and the sectors in which they differ.</summary>
/// <param name="disk">Where it is.</param>
/// <param name="name">Its name, for messages.</param>
/// <param name="bytes">What it holds.</param>
/// <param name="number">Its number; 0: a new one.</param>
/// <param name="isSynced">That is durable; else it is room, which is there with the file's name.</param>
internal sealed class SimulatedFile(SimulatedDisk disk, string name, byte[] bytes, long number = 0, bool isSynced = false)
{
    /// <summary>As a disk asks that is opened for direct access.</summary>
    public const int DirectAlignment = 4096;
    private const int SectorBytes = 512, FullParts = 4;

    private static long s_made;
    private readonly HashSet<int> _dirty = [];
    // Behind what each holds there is nothing but zeros.
    private byte[] _room = bytes, _synced = isSynced ? [.. bytes] : new byte[bytes.Length];
    private int _length = bytes.Length, _syncedLength = bytes.Length;

    /// <summary>Which file it is; the same after a crash.</summary>
    public long Number { get; } = number > 0 ? number : Interlocked.Increment(ref s_made);

    public ReadOnlySpan<byte> Bytes => _room.AsSpan(0, _length);

    public void Write(long offset, ReadOnlySpan<byte> from)
    {
        disk.Count("write", name);
        if (disk.IsFull) from = from[..(int)((long)from.Length * (disk.Writes % FullParts) / FullParts)];
        int end = (int)offset + from.Length;
        if (end > _length)
        {
            disk.Charge(end - _length, "write", name);
            BeOf(end);
        }
        from.CopyTo(_room.AsSpan((int)offset));
        MarkDirty((int)offset, end);
        disk.AfterCount();
        if (disk.IsFull) throw new DiskException("write", name, "no space left on device", isFull: true);
    }

    public int Read(long offset, Span<byte> to)
    {
        if (offset >= _length) return 0;
        int bytes = (int)Math.Min(to.Length, _length - offset);
        _room.AsSpan((int)offset, bytes).CopyTo(to);
        return bytes;
    }

    public void Sync()
    {
        disk.Count("sync", name);
        disk.AfterCount();
        SyncNow();
    }

    public void SetLength(long bytes)
    {
        disk.Count("length", name);
        int old = _length;
        BeOf((int)bytes);
        MarkDirty((int)Math.Min(old, bytes), (int)Math.Max(old, bytes));
        disk.AfterCount();
    }

    public void SyncNow()
    {
        if (_synced.Length < _length) Array.Resize(ref _synced, _room.Length);
        if (_length < _syncedLength) _synced.AsSpan(_length, _syncedLength - _length).Clear();
        _syncedLength = _length;
        foreach (int sector in _dirty)
        {
            int at = sector * SectorBytes, end = Math.Min(at + SectorBytes, _length);
            if (end > at) _room.AsSpan(at, end - at).CopyTo(_synced.AsSpan(at));
        }
        _dirty.Clear();
    }

    /// <summary>The bytes as found after a power cut.</summary>
    public byte[] AfterCrash(int seed, Random random)
    {
        if (seed == 0) return _synced[.._syncedLength];
        if (seed == 1) return _room[.._length];
        bool newLength = random.Next(2) == 0;
        byte[] found = new byte[newLength ? _length : _syncedLength];
        _synced.AsSpan(0, Math.Min(_syncedLength, found.Length)).CopyTo(found);
        foreach (int sector in _dirty.Order())
        {
            int at = sector * SectorBytes, end = Math.Min(Math.Min(at + SectorBytes, found.Length), _length);
            if (random.Next(2) == 0 && end > at) _room.AsSpan(at, end - at).CopyTo(found.AsSpan(at));
        }
        return found;
    }

    private void BeOf(int length)
    {
        if (length > _room.Length) Array.Resize(ref _room, Math.Max(length, 2 * _room.Length));
        if (length < _length) _room.AsSpan(length, _length - length).Clear();
        _length = length;
    }

    private void MarkDirty(int from, int end)
    {
        for (int sector = from / SectorBytes; sector * SectorBytes < end; sector++) _dirty.Add(sector);
    }
}
