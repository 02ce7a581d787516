using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// What a tier lies on: a disk from byte 0 on, and persistent memory from a place on that depends on neither's size, so that both may grow. Either may be missing.
/// media.M5  The places are part of what is kept (website/docs/format/tier.md): snapshots name records by them.
/// </summary>
public sealed unsafe class LayeredMedium : IMedium
{
    /// <summary>Where the part in persistent memory begins: in the middle of what words of an index can name, 512 GiB.</summary>
    public const long MemoryFrom = 1L << 39;

    /// <summary>Bytes of each of two parts at most: what lies before the other, and as much behind where that begins.</summary>
    public const long PartBytesMax = MemoryFrom;

    private readonly IMedium? _disk;
    private readonly PmMedium? _memory;

    /// <summary>Of one part at least; it closes both.</summary>
    public LayeredMedium(IMedium? disk, PmMedium? memory)
    {
        (_disk, _memory) = (disk, memory);
        var parts = new List<MediumPart>();
        if (disk is not null)
            parts.Add(new MediumPart(0, Math.Min(disk.Bytes, memory is null ? long.MaxValue : MemoryFrom), disk.Facts));
        if (memory is not null)
            parts.Add(new MediumPart(MemoryFrom, memory.Bytes, memory.Facts, IsInPlace: true));
        Parts = parts;
        Facts = parts[0].Facts;
        Bytes = parts[^1].From + parts[^1].Bytes;
    }

    /// <inheritdoc/>
    public MediumFacts Facts { get; }

    /// <inheritdoc/>
    public long Bytes { get; }

    /// <inheritdoc/>
    public IReadOnlyList<MediumPart> Parts { get; }

    /// <summary>The disk's file, if there is one.</summary>
    public FileMedium? Disk => _disk as FileMedium;

    /// <summary>The part in persistent memory; null: there is none.</summary>
    public PmMedium? Memory => _memory;

    /// <summary>What the heads of its files say that their owner wants to know.</summary>
    public ulong Note => Disk?.Note ?? _memory?.File?.Note ?? 0;

    /// <summary>Its owner's id; 0 where nobody opens it again.</summary>
    public MediumId Id => Disk?.Id ?? _memory?.File?.Id ?? default;

    /// <summary>Sets the room aside that files that were there do not have yet.</summary>
    /// <exception cref="GarnetException">A disk has less.</exception>
    public void Reserve()
    {
        Disk?.Reserve();
        _memory?.Reserve();
    }

    /// <summary>Its owner has found in it what there should be: its files stay.</summary>
    /// <exception cref="GarnetException">One cannot be given its name.</exception>
    public void Settle()
    {
        Disk?.Settle();
        _memory?.File?.Settle();
    }

    /// <inheritdoc/>
    public long EndOf(long offset)
    {
        foreach (MediumPart part in Parts)
        {
            if (offset >= part.From && offset < part.From + part.Bytes)
                return part.From + part.Bytes;
        }
        return 0;
    }

    /// <inheritdoc/>
    public byte* InPlace(long offset, int bytes) => IsOfMemory(offset) ? _memory!.InPlace(offset - MemoryFrom, bytes) : null;

    /// <inheritdoc/>
    public int Write(long offset, byte* from, int bytes) =>
        IsOfMemory(offset) ? _memory!.Write(offset - MemoryFrom, from, bytes) : _disk!.Write(offset, from, bytes);

    /// <inheritdoc/>
    public int Sync()
    {
        int disk = _disk?.Sync() ?? 0, memory = _memory?.Sync() ?? 0;
        return disk != 0 ? disk : memory;
    }

    /// <inheritdoc/>
    public bool IsGone => _disk is { IsGone: true } || _memory is { IsGone: true };

    /// <inheritdoc/>
    public IMediumReader OpenReader(int depth, ReaderWake wake) =>
        _memory is null ? _disk!.OpenReader(depth, wake) : new Reader(this, depth, wake);

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory?.Dispose();
        _disk?.Dispose();
    }

    private bool IsOfMemory(long offset) => _memory is not null && offset >= MemoryFrom;

    // Of the memory it is a copy, which is there at once.
    private sealed class Reader(LayeredMedium medium, int depth, ReaderWake wake) : IMediumReader
    {
        private readonly IMediumReader? _disk = medium._disk?.OpenReader(depth, wake);
        private readonly Queue<FinishedRead> _finished = new();

        public int Room => Math.Min(depth - _finished.Count, _disk?.Room ?? depth);

        public void Begin(ulong token, long offset, byte* to, int bytes)
        {
            bool isMemory = medium.IsOfMemory(offset);
            if (!isMemory && _disk is not null)
                _disk.Begin(token, offset, to, bytes);
            else
                _finished.Enqueue(new FinishedRead(token, isMemory ? medium._memory!.Copy(offset - MemoryFrom, to, bytes) : -Libc.EIO));
        }

        public void Submit() => _disk?.Submit();

        public int Take(Span<FinishedRead> finished)
        {
            int count = 0;
            while (count < finished.Length && _finished.TryDequeue(out FinishedRead read)) finished[count++] = read;
            return count + (_disk is null || count == finished.Length ? 0 : _disk.Take(finished[count..]));
        }

        public void Wait(int milliseconds)
        {
            if (_finished.Count == 0)
                _disk?.Wait(milliseconds);
        }

        public void WakeNobody() => _disk?.WakeNobody();

        public void Dispose() => _disk?.Dispose();
    }
}
