using System.Text;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A file of a fixed size, its room set aside at once: a tier does not find out in the middle of its work that the disk is full. Past the
/// system's cache where the file system allows it. One that nobody opens again has no name while it is used (it is unlinked when it is open): whatever ends
/// the process, the disk has its room back, and nobody takes what is in it for data to keep. One that is to be opened again has an owner's id (<see cref="KeptFile"/>).
/// media.M1  What is written is whole blocks inside the file: nothing is read first to be written again.
/// </summary>
public sealed unsafe class FileMedium : IMedium
{
    private const int Block = 4096;
    private readonly int _file;
    private readonly ReadThreads _threads = new();
    private readonly bool _hasRing, _mayBlock;
    private readonly KeptFile? _kept;
    private bool _hasRoom; // of one that was there it is set aside later

    private const long Tmpfs = 0x01021994, Ramfs = 0x858458F6; // statfs(2)
    // These begin a read without waiting for it. Others (FUSE for one) may not, and would have whoever begins it wait for a disk that hangs.
    private const long Ext = 0xEF53, Xfs = 0x58465342, Btrfs = 0x9123683E, F2fs = 0xF2F52010, Overlay = 0x794C7630;

    private FileMedium(int file, long bytes, bool isDirect, bool isMemory, string? whyNoRing, KeptFile? kept = null)
    {
        _file = file;
        _kept = kept;
        _hasRoom = kept is { IsNew: true };
        Bytes = bytes;
        _hasRing = whyNoRing is null;
        _mayBlock = Libc.FileSystemOf(file) is not (Ext or Xfs or Btrfs or F2fs or Overlay or Tmpfs or Ramfs);
        Facts = new MediumFacts
        {
            BlockBytes = Block,
            Domain = PersistenceDomain.Disk,
            IsDirect = isDirect,
            IsMemory = isMemory,
            Reading = _hasRing ? "io_uring" : $"threads, as there is no io_uring here ({whyNoRing})",
        };
    }

    /// <inheritdoc/>
    public MediumFacts Facts { get; }

    /// <inheritdoc/>
    public long Bytes { get; }

    /// <summary>Makes the file in a directory that is there and sets its room aside.</summary>
    /// <param name="directory">Where it lies.</param>
    /// <param name="bytes">Its size, rounded down to blocks.</param>
    /// <param name="mayRing">False to read by threads in any case.</param>
    /// <param name="part">What of a tier it is, for messages; null: on a disk.</param>
    /// <exception cref="GarnetException">The directory cannot be written to, or the disk has less room.</exception>
    public static FileMedium Make(string directory, long bytes, bool mayRing = true, KeptPart? part = null)
    {
        part ??= KeptPart.Disk;
        bytes = bytes / Block * Block;
        string path = Path.Combine(directory, $"tier.{Environment.ProcessId}.{Guid.NewGuid():N}");
        byte[] name = Encoding.UTF8.GetBytes(path + '\0');
        int file, failure = 0;
        bool isDirect = true;
        fixed (byte* first = name)
        {
            const int Flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_CLOEXEC;
            file = Libc.open(first, Flags | Libc.O_DIRECT, 0x180);
            if (file < 0 && Libc.Errno == Libc.EINVAL)
            {
                isDirect = false; // a file system without direct reads and writes has made the file all the same
                _ = Libc.unlink(first);
                file = Libc.open(first, Flags, 0x180);
            }
            if (file < 0)
                failure = Libc.Errno;
            if (file >= 0)
                _ = Libc.unlink(first);
        }
        if (file < 0)
            throw Failed($"cannot make a file in {directory}", failure,
                $"Name a directory that the server may write to ({part.PathSetting})");
        failure = SetAside(file, bytes);
        if (failure == 0)
            return new FileMedium(file, bytes, isDirect, IsMemory(directory), WhyNoRing(mayRing));
        _ = Libc.close(file);
        throw NoRoom(directory, bytes, failure, part);
    }

    /// <summary>
    /// Opens the owner's file in a directory that is there, and leaves it as it is, or makes it; its first block is not the owner's to write. Once the owner has
    /// found in it what there should be, it has its room (<see cref="Reserve"/>) and is settled (<see cref="Settle"/>); one that was just made is not there before that.
    /// </summary>
    /// <param name="directory">Where it lies.</param>
    /// <param name="id">The owner's id, which is in its name and its head.</param>
    /// <param name="bytes">Its size, rounded down to blocks.</param>
    /// <param name="note">What is noted in the head of a file that is made; in <see cref="Note"/> is what its head says.</param>
    /// <param name="mayRing">False to read by threads in any case.</param>
    /// <param name="part">What of a tier it is; null: on a disk.</param>
    /// <exception cref="GarnetException">It is another's, in use, or damaged; or the disk has less room.</exception>
    public static FileMedium Keep(string directory, MediumId id, long bytes, ulong note, bool mayRing = true, KeptPart? part = null)
    {
        part ??= KeptPart.Disk;
        bytes = bytes / Block * Block;
        KeptFile kept = IsKept(directory, id, part) ? KeptFile.Open(directory, part, id) : KeptFile.Make(directory, part, id, note);
        try
        {
            if (kept.IsNew)
                kept.Reserve(bytes);
            return new FileMedium(kept.Descriptor, bytes, kept.IsDirect, IsMemory(directory), WhyNoRing(mayRing), kept);
        }
        catch
        {
            kept.Dispose();
            throw;
        }
    }

    /// <summary>Opens the owner's file to read it only; null if it is not there.</summary>
    /// <exception cref="GarnetException">It is another's, in use, or damaged.</exception>
    public static FileMedium? Look(string directory, MediumId id, KeptPart? part = null)
    {
        if (!IsKept(directory, id, part))
            return null;
        KeptFile kept = KeptFile.Open(directory, part ?? KeptPart.Disk, id);
        return new FileMedium(kept.Descriptor, kept.FoundBytes, kept.IsDirect, IsMemory(directory), WhyNoRing(false), kept);
    }

    /// <summary>True if the owner's file is there and its head is damaged, so that what is left shows which of these notes it had; it is left as it is.</summary>
    /// <exception cref="GarnetException">It is in use, or cannot be opened.</exception>
    public static bool CanMendHead(string directory, MediumId id, KeptPart part, IEnumerable<ulong> notes) =>
        IsKept(directory, id, part) && KeptFile.MendHead(directory, part, id, notes, keep: null);

    /// <summary>Writes such a head anew; <paramref name="keep"/> is given the block as it was before.</summary>
    /// <exception cref="GarnetException">It is in use, or cannot be written.</exception>
    public static void MendHead(string directory, MediumId id, KeptPart part, IEnumerable<ulong> notes, Action<byte[]> keep) =>
        KeptFile.MendHead(directory, part, id, notes, keep);

    /// <summary>True if the owner's file is there, whatever is in it.</summary>
    public static bool IsKept(string directory, MediumId id, KeptPart? part = null) =>
        File.Exists(KeptFile.PathOf(directory, part ?? KeptPart.Disk, id));

    /// <summary>The file, for whoever maps it.</summary>
    internal int Descriptor => _file;

    /// <summary>Bytes that may be read: what a file that was there has, until it has its room.</summary>
    internal long FoundBytes => Libc.FactsOf(_file)?.Bytes ?? 0;

    /// <summary>What its head says that its owner wants to know; 0 for a file that nobody opens again.</summary>
    public ulong Note => _kept?.Note ?? 0;

    /// <summary>Its owner's id; 0 for a file that nobody opens again.</summary>
    public MediumId Id => _kept?.Id ?? default;

    /// <summary>Sets the room aside that a file that was there does not have yet.</summary>
    /// <exception cref="GarnetException">The disk has less.</exception>
    public void Reserve()
    {
        _kept?.Reserve(Bytes);
        _hasRoom = true;
    }

    /// <summary>Its owner has found in it what there should be: it stays, and has no more than its size.</summary>
    /// <exception cref="GarnetException">It cannot be given its name.</exception>
    public void Settle() => _kept?.Settle(Bytes);

    /// <inheritdoc/>
    public int Write(long offset, byte* from, int bytes)
    {
        Check.That(((offset | (long)from | (long)bytes) & (Block - 1)) == 0 && offset >= 0
            && offset + bytes <= Bytes, "media.M1 whole blocks inside the medium are written");
        while (bytes > 0)
        {
            nint put = Libc.pwrite(_file, from, bytes, offset);
            if (put < 0 && Libc.Errno == Libc.EINTR)
                continue;
            if (put <= 0)
                return put < 0 ? Libc.Errno : Libc.EIO;
            put = put / Block * Block; // what is left of a block is written anew
            if (put == 0)
                return Libc.EIO;
            from += put;
            offset += put;
            bytes -= (int)put;
        }
        return 0;
    }

    /// <inheritdoc/>
    public int Sync() => Libc.fdatasync(_file) != 0 ? Libc.Errno : IsGone ? Libc.ENOENT : 0;

    /// <summary>
    /// True if its file was to stay and has been removed, or cut: what lies in it is there until the process ends, and nobody finds it then; or part of it is gone now.
    /// </summary>
    public bool IsGone => _kept is { IsNew: false } && (!Libc.HasName(_file) || (_hasRoom && FoundBytes < Bytes));

    /// <inheritdoc/>
    public IMediumReader OpenReader(int depth, ReaderWake wake)
    {
        bool canRing = _hasRing && wake.Call is null;
        if (!canRing || Ring.TryMake(depth, wake.Event?.Descriptor ?? -1, out _) is not { } ring)
            return new PooledReader(_threads, _file, depth, wake);
        if (_mayBlock)
            ring.AllowThreads(depth);
        return new RingReader(ring, _file, depth, _mayBlock);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _threads.Dispose();
        if (_kept is null)
            _ = Libc.close(_file);
        else
            _kept.Dispose();
    }

    internal static int SetAside(int file, long bytes)
    {
        long before = Libc.FactsOf(file)?.Bytes ?? bytes;
        int failure = Allocate(file, bytes);
        if (failure == Libc.EOPNOTSUPP)
            return Libc.ftruncate(file, bytes) == 0 ? 0 : Libc.Errno; // the size alone; it says that it is full when it is
        if (failure != 0 && before < bytes)
            _ = Libc.ftruncate(file, before); // ext4 leaves all that there was to the file: others on the disk would have nothing
        return failure;
    }

    private static int Allocate(int file, long bytes)
    {
        while (Libc.fallocate(file, 0, 0, bytes) != 0)
        {
            if (Libc.Errno is var error and not Libc.EINTR)
                return error;
        }
        return 0;
    }

    internal static GarnetException NoRoom(string directory, long bytes, int error, KeptPart part) =>
        Failed($"cannot set {bytes} bytes aside in {directory}", error, error == Libc.EFBIG
            ? $"Raise the limit of file sizes (ulimit -f), or lower {part.SizeSetting}" : $"Make room there, or lower {part.SizeSetting}");

    internal static GarnetException Failed(string what, int error, string next) => new(
        error is Libc.EACCES or Libc.EPERM ? ExitKind.Permission : ExitKind.Configuration, what, Reason(error), next);

    /// <summary>True for a directory in memory (tmpfs, ramfs).</summary>
    public static bool IsMemory(string directory)
    {
        fixed (byte* name = Encoding.UTF8.GetBytes(directory + '\0'))
            return Libc.FileSystemOf(name) is Tmpfs or Ramfs;
    }

    private static string? WhyNoRing(bool mayRing)
    {
        if (!mayRing)
            return "switched off";
        using Ring? ring = Ring.TryMake(1, -1, out int error);
        return ring is null ? Reason(error) : null;
    }

    private static string Reason(int error) => new System.ComponentModel.Win32Exception(error).Message;
}
