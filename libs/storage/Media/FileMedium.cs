using System.Text;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A file of a fixed size, its room set aside at once: a tier does not find out in the middle of its work that the disk is full. Past the
/// system's cache where the file system allows it. The file has no name while it is used (it is unlinked when it is open): whatever ends the
/// process, the disk has its room back, and nobody takes what is in it for data to keep.
/// media.M1  What is written is whole blocks inside the file: nothing is read first to be written again.
/// </summary>
public sealed unsafe class FileMedium : IMedium
{
    private const int Block = 4096;
    private readonly int _file;
    private readonly ReadThreads _threads = new();
    private readonly bool _hasRing;

    private const long Tmpfs = 0x01021994, Ramfs = 0x858458F6; // statfs(2)

    private FileMedium(int file, long bytes, bool isDirect, bool isMemory, string? whyNoRing)
    {
        _file = file;
        Bytes = bytes;
        _hasRing = whyNoRing is null;
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
    /// <exception cref="GarnetException">The directory cannot be written to, or the disk has less room.</exception>
    public static FileMedium Make(string directory, long bytes, bool mayRing = true)
    {
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
            throw Failed($"cannot make a file in {directory}", failure, "name a directory that the server may write to (tier-path)");
        if (Libc.fallocate(file, 0, 0, bytes) != 0)
            failure = Libc.Errno;
        // What has no such call takes the size alone; it says that it is full when it is.
        if (failure == Libc.EOPNOTSUPP)
            failure = Libc.ftruncate(file, bytes) == 0 ? 0 : Libc.Errno;
        if (failure == 0)
            return new FileMedium(file, bytes, isDirect, IsMemory(directory), WhyNoRing(mayRing));
        _ = Libc.close(file);
        throw Failed($"cannot set {bytes} bytes aside in {directory}", failure, "make room there, or lower tier-size");
    }

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
    public int Sync() => Libc.fdatasync(_file) == 0 ? 0 : Libc.Errno;

    /// <inheritdoc/>
    public IMediumReader OpenReader(int depth, ReaderWake wake)
    {
        bool canRing = _hasRing && wake.Call is null;
        return canRing && Ring.TryMake(depth, wake.Descriptor, out _) is { } ring
            ? new RingReader(ring, _file, depth)
            : new PooledReader(_threads, _file, depth, wake);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _threads.Dispose();
        _ = Libc.close(_file);
    }

    private static bool IsMemory(string directory)
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

    private static GarnetException Failed(string what, int error, string next) => new(
        error is Libc.EACCES or Libc.EPERM ? ExitKind.Permission : ExitKind.Configuration, what, Reason(error), next);
}
