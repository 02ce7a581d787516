using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Faults;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A tier's part in persistent memory: written past the caches, read where it lies.
/// media.M3  What is written has left the processor, by one fence on the thread that wrote it (media.P2), before anybody is told of it. Where the domain is real it is
/// durable then, so that nothing is left to be done when it is to be (<see cref="Sync"/>); elsewhere that asks the system for it.
/// media.M4  Nothing is stored to, or read, where the file has no room: that would end the process.
/// </summary>
public sealed unsafe class PmMedium : IMedium
{
    private readonly IPmRange _range;
    private readonly FileMedium? _file;
    private long _backed;

    /// <summary>Over a range that is there as a whole; what it has beyond whole pages and one page more is not used.</summary>
    public PmMedium(IPmRange range)
        : this(range, null)
    {
    }

    private PmMedium(IPmRange range, FileMedium? file)
    {
        ArgumentNullException.ThrowIfNull(range);
        (_range, _file) = (range, file);
        Bytes = (range.Bytes & -PmRange.PageBytes) - PmRange.PageBytes; // the last page may be read behind the one before it
        _backed = file is null ? range.Bytes : file.FoundBytes;
        bool isReal = range.Domain.IsRealPm();
        Facts = new MediumFacts
        {
            BlockBytes = PmRange.PageBytes,
            Domain = range.Domain,
            IsDirect = isReal || (range as PmRange)?.IsSynchronous == true,
            IsMemory = range.IsMemory,
            Reading = $"where it lies ({PersistenceDomains.NameOf(range.Domain)})",
        };
    }

    /// <inheritdoc/>
    public MediumFacts Facts { get; }

    /// <inheritdoc/>
    public long Bytes { get; }

    /// <inheritdoc/>
    public IReadOnlyList<MediumPart> Parts => [new MediumPart(0, Bytes, Facts, IsInPlace: true)];

    /// <summary>The file; null in tests.</summary>
    public FileMedium? File => _file;

    /// <summary>What its file has to be larger than it is to hold.</summary>
    public const int MoreBytes = PmRange.PageBytes;

    /// <summary>Maps a file; both go together.</summary>
    /// <exception cref="Garnet.Common.GarnetException">It cannot be mapped; it is closed then.</exception>
    public static PmMedium Over(FileMedium file, string directory)
    {
        ArgumentNullException.ThrowIfNull(file);
        try
        {
            return new PmMedium(PmRange.Over(file, directory), file);
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Sets the room aside that a file that was there does not have yet.</summary>
    /// <exception cref="Garnet.Common.GarnetException">The disk has less.</exception>
    public void Reserve()
    {
        _file?.Reserve();
        _ = _file?.Sync(); // where stores alone are durable, nobody asks the file system for its size later
        Volatile.Write(ref _backed, _range.Bytes);
    }

    /// <inheritdoc/>
    public int Write(long offset, byte* from, int bytes)
    {
        Check.That(((offset | (long)bytes) & (PmRange.PageBytes - 1)) == 0 && offset >= 0 && offset + bytes <= Bytes,
            "media.M1 whole blocks inside the medium are written");
        if (Volatile.Read(ref _backed) != _range.Bytes && TryReserve() is not 0 and var error)
            return error; // media.M4
        _range.Write(offset, new ReadOnlySpan<byte>(from, bytes));
        return _range.Drain(); // media.M3
    }

    /// <inheritdoc/>
    public bool IsGone => _file is { IsGone: true };

    /// <inheritdoc/>
    public int Sync() => IsGone ? Libc.ENOENT : Facts.Domain.IsRealPm() ? 0 : _range.Fence(); // media.M3

    /// <inheritdoc/>
    public byte* InPlace(long offset, int bytes) =>
        offset >= 0 && bytes >= 0 && offset <= Bytes - bytes && offset + bytes + MediumPart.SlackBytes <= Volatile.Read(ref _backed)
            ? (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(_range.At(offset, bytes))) : null;

    /// <inheritdoc/>
    public IMediumReader OpenReader(int depth, ReaderWake wake) => new CopyingReader(this, depth);

    /// <inheritdoc/>
    public void Dispose()
    {
        _range.Dispose();
        _file?.Dispose();
    }

    /// <summary>Copies what is there, as a read does: 0 bytes where the file ends before.</summary>
    internal int Copy(long offset, byte* to, int bytes)
    {
        long there = Math.Clamp(Math.Min(Bytes, Volatile.Read(ref _backed)) - offset, 0, bytes);
        if (there > 0)
            _range.At(offset, (int)there).CopyTo(new Span<byte>(to, bytes));
        return (int)there;
    }

    // Also where the owner has not found yet what there should be: what is written then is no less written than to a disk.
    private int TryReserve()
    {
        int error = _file is null ? 0 : FileMedium.SetAside(_file.Descriptor, _file.Bytes);
        if (error == 0)
            Volatile.Write(ref _backed, _range.Bytes);
        return error;
    }

    private sealed class CopyingReader(PmMedium medium, int depth) : IMediumReader
    {
        private readonly Queue<FinishedRead> _finished = new();

        public int Room => depth - _finished.Count;

        public void Begin(ulong token, long offset, byte* to, int bytes) =>
            _finished.Enqueue(new FinishedRead(token, offset >= 0 && offset < medium.Bytes ? medium.Copy(offset, to, bytes) : -Libc.EIO));

        public void Submit()
        {
        }

        public int Take(Span<FinishedRead> finished)
        {
            int count = 0;
            while (count < finished.Length && _finished.TryDequeue(out FinishedRead read)) finished[count++] = read;
            return count;
        }

        public void Wait(int milliseconds)
        {
        }

        public void WakeNobody()
        {
        }

        public void Dispose() => _finished.Clear();
    }
}
