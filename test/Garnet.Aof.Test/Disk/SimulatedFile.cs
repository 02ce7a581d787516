using Garnet.Aof.Disk;

namespace Garnet.Aof.Test.Disk;

/// <summary>A file of a <see cref="SimulatedDisk"/>: what a reader sees, what is durable, and the sectors in which they differ.</summary>
internal sealed class SimulatedFile(SimulatedDisk disk, string name, byte[] bytes, long number = 0)
{
    /// <summary>As a disk asks that is opened for direct access.</summary>
    public const int DirectAlignment = 4096;
    private const int SectorBytes = 512, FullParts = 4;

    private static long s_made;
    private readonly HashSet<int> _dirty = [];
    private byte[] _synced = new byte[bytes.Length]; // room set aside is there with the file's name

    /// <summary>Which file it is; the same after a crash.</summary>
    public long Number { get; } = number > 0 ? number : Interlocked.Increment(ref s_made);

    public byte[] Bytes { get; private set; } = bytes;

    public void Write(long offset, ReadOnlySpan<byte> from)
    {
        disk.Count("write", name);
        if (disk.IsFull) from = from[..(int)((long)from.Length * (disk.Writes % FullParts) / FullParts)];
        int end = (int)offset + from.Length;
        if (end > Bytes.Length)
        {
            disk.Charge(end - Bytes.Length, "write", name);
            Bytes = Resized(Bytes, end);
        }
        from.CopyTo(Bytes.AsSpan((int)offset));
        MarkDirty((int)offset, end);
        disk.AfterCount();
        if (disk.IsFull) throw new DiskException("write", name, "no space left on device", isFull: true);
    }

    public int Read(long offset, Span<byte> to)
    {
        if (offset >= Bytes.Length) return 0;
        int bytes = (int)Math.Min(to.Length, Bytes.Length - offset);
        Bytes.AsSpan((int)offset, bytes).CopyTo(to);
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
        int old = Bytes.Length;
        Bytes = Resized(Bytes, (int)bytes);
        MarkDirty((int)Math.Min(old, bytes), (int)Math.Max(old, bytes));
        disk.AfterCount();
    }

    public void SyncNow()
    {
        _synced = Bytes.ToArray();
        _dirty.Clear();
    }

    /// <summary>The bytes as found after a power cut.</summary>
    public byte[] AfterCrash(int seed, Random random)
    {
        if (seed == 0) return _synced.ToArray();
        if (seed == 1) return Bytes.ToArray();
        bool newLength = random.Next(2) == 0;
        byte[] found = Resized(_synced, newLength ? Bytes.Length : _synced.Length);
        foreach (int sector in _dirty.Order())
        {
            int at = sector * SectorBytes, end = Math.Min(Math.Min(at + SectorBytes, found.Length), Bytes.Length);
            if (random.Next(2) == 0 && end > at) Bytes.AsSpan(at, end - at).CopyTo(found.AsSpan(at));
        }
        return found;
    }

    private void MarkDirty(int from, int end)
    {
        for (int sector = from / SectorBytes; sector * SectorBytes < end; sector++) _dirty.Add(sector);
    }

    private static byte[] Resized(byte[] bytes, int length)
    {
        byte[] resized = new byte[length];
        bytes.AsSpan(0, Math.Min(bytes.Length, length)).CopyTo(resized);
        return resized;
    }
}
