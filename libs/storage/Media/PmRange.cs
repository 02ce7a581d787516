using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using System.Text;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// A file mapped as persistent memory. On a file system that grants it (ext4 and xfs on DAX, MAP_SYNC) a store that has left the processor
/// is durable: lines are stored past the caches (non-temporal stores) and a store fence waits for them. The framework knows no CLWB, and
/// needs none here: what is written is written once and whole, where such stores are the faster way. Everywhere else, and on processors
/// whose stores of that kind it does not know, the file is mapped as any other and a fence is an msync.
/// The file is locked: two servers do not share one. Its room is set aside first, since a store that finds none would end the process.
/// </summary>
public sealed unsafe class PmRange : IPmRange
{
    /// <summary>What the file's size is a multiple of: a page.</summary>
    public const int PageBytes = 4096;

    private const string Setting = "aof-pm-path";
    private const int MapSync = 0x80000, MapSharedValidate = 3;
    private const long Ext4 = 0xEF53, Xfs = 0x58465342, Tmpfs = 0x01021994, Overlay = 0x794C7630, F2fs = 0xF2F52010; // statfs(2)
    private readonly int _file;
    private readonly bool _needsSync, _isOwner;
    private readonly byte* _readMap;
    private byte* _map;

    private PmRange(int file, byte* map, long bytes, PmMapping mapping, byte* readMap = null)
    {
        _file = file;
        _map = map;
        _isOwner = readMap == null;
        _readMap = _isOwner ? map : readMap;
        Bytes = bytes;
        _needsSync = !mapping.IsSynchronous || !Sse2.IsSupported;
        (Domain, IsMemory, IsSynchronous) = (mapping.Domain, mapping.IsMemory, mapping.IsSynchronous);
    }

    /// <inheritdoc/>
    public long Bytes { get; }

    /// <inheritdoc/>
    public PersistenceDomain Domain { get; }

    /// <inheritdoc/>
    public bool IsMemory { get; }

    /// <inheritdoc/>
    public bool FencesAtOnce => !_needsSync || IsMemory; // an msync of tmpfs writes nothing

    /// <summary>The file system has granted that a store is all it takes (MAP_SYNC).</summary>
    public bool IsSynchronous { get; }

    /// <summary>Maps a file that is there.</summary>
    /// <param name="path">The file.</param>
    /// <param name="bytesMin">Bytes that it must have.</param>
    /// <param name="sysfs">Where the system tells of its devices.</param>
    /// <exception cref="GarnetException">It is not there, is in use, or is none that can serve; the message says what to do.</exception>
    public static PmRange Open(string path, long bytesMin = PageBytes, string sysfs = "/sys")
    {
        int file, error = 0;
        long system;
        fixed (byte* name = Encoding.UTF8.GetBytes(path + '\0'))
        {
            system = Libc.FileSystemOf(name);
            file = Libc.open(name, Libc.O_RDWR | Libc.O_CLOEXEC | Libc.O_NOFOLLOW, 0);
            if (file < 0)
                error = Libc.Errno;
        }
        if (file < 0)
            throw NotOpened(path, error);
        try
        {
            return Map(path, file, system, bytesMin, sysfs);
        }
        catch (GarnetException)
        {
            _ = Libc.close(file);
            throw;
        }
    }

    /// <summary>
    /// Maps a medium's file, whose room and lock are the medium's matter, as is its end. What reads it does so through a mapping of its own that cannot be written: a stray
    /// store ends the process instead of what lies there.
    /// </summary>
    /// <exception cref="GarnetException">It cannot be mapped; the message says what to do.</exception>
    internal static PmRange Over(FileMedium file, string directory, string sysfs = "/sys")
    {
        string setting = KeptPart.Memory.PathSetting;
        long system;
        fixed (byte* name = Encoding.UTF8.GetBytes(directory + '\0'))
            system = Libc.FileSystemOf(name);
        if (Libc.FactsOf(file.Descriptor) is not { } facts)
            throw Refused(directory, Reason(Libc.Errno), "look at the rights of the file", setting);
        (nint map, bool isSynchronous) = MapShared(directory, file.Descriptor, system, file.Bytes, setting);
        void* readMap = Libc.mmap(null, (nint)file.Bytes, Libc.PROT_READ, Libc.MAP_SHARED, file.Descriptor, 0);
        if ((nint)readMap != -1)
            return new PmRange(file.Descriptor, (byte*)map, file.Bytes, MappingOf(isSynchronous, system, facts, sysfs), (byte*)readMap);
        int error = Libc.Errno;
        _ = Libc.munmap((void*)map, (nint)file.Bytes);
        throw NotMapped(directory, error, setting);
    }

    /// <inheritdoc/>
    public void Write(long offset, ReadOnlySpan<byte> lines)
    {
        Check.That(((offset | (long)lines.Length) & (IPmRange.LineBytes - 1)) == 0 && offset >= 0 && offset <= Bytes - lines.Length,
            "media.P1 whole lines inside the range are written");
        byte* to = _map + offset;
        if (!Sse2.IsSupported)
        {
            lines.CopyTo(new Span<byte>(to, lines.Length));
            return;
        }
        fixed (byte* from = lines)
        {
            for (int at = 0; at < lines.Length; at += Vector128<byte>.Count)
                Sse2.StoreAlignedNonTemporal(to + at, Vector128.Load(from + at));
        }
    }

    /// <inheritdoc/>
    public int Drain()
    {
        if (Sse.IsSupported)
            Sse.StoreFence();
        else
            Interlocked.MemoryBarrier();
        return 0;
    }

    /// <inheritdoc/>
    public int Fence()
    {
        Drain();
        if (!_needsSync || Libc.msync(_map, (nint)Bytes, Libc.MS_SYNC) == 0)
            return 0;
        return Libc.Errno;
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> At(long offset, int bytes)
    {
        Check.That(bytes >= 0 && offset >= 0 && offset <= Bytes - bytes, "media.P1 what is read lies inside the range");
        return new ReadOnlySpan<byte>(_readMap + offset, bytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_map == null)
            return;
        _ = Libc.munmap(_map, (nint)Bytes);
        if (_isOwner)
            _ = Libc.close(_file);
        else
            _ = Libc.munmap(_readMap, (nint)Bytes);
        _map = null;
    }

    private static PmRange Map(string path, int file, long system, long bytesMin, string sysfs)
    {
        if (Libc.FactsOf(file) is not { } facts)
            throw Refused(path, Reason(Libc.Errno), "look at the rights of the file");
        if (!facts.IsFile)
            throw Refused(path, "it is no file", $"name a file on a file system that is mounted with DAX: {Making(path, bytesMin)}");
        if (facts.Owner != Libc.geteuid() || facts.IsOthersToo)
            throw Refused(path, "others than the server's user own it or may write it", $"give it to that user: chown, chmod 600 {path}");
        if (facts.Bytes < bytesMin)
            throw Refused(path, $"it has {facts.Bytes} bytes and {bytesMin} are the least", $"make it larger: {Making(path, bytesMin)}");
        if (facts.Bytes % PageBytes != 0)
        {
            throw Refused(path, $"its size of {facts.Bytes} bytes is no multiple of {PageBytes}",
                $"make it so: {Making(path, (facts.Bytes / PageBytes + 1) * PageBytes)}");
        }

        if (!Libc.TryLock(file))
            throw Refused(path, "another server has it in use", "give each server a file of its own");
        (nint map, bool isSynchronous) = MapShared(path, file, system, facts.Bytes, Setting);
        if (!isSynchronous && Libc.fallocate(file, 0, 0, facts.Bytes) != 0)
        {
            int error = Libc.Errno;
            _ = Libc.munmap((void*)map, (nint)facts.Bytes);
            throw Refused(path, $"its room cannot be set aside ({Reason(error)})", "make room there, or name another file");
        }
        return new PmRange(file, (byte*)map, facts.Bytes, MappingOf(isSynchronous, system, facts, sysfs));
    }

    private static PmMapping MappingOf(bool isSynchronous, long system, OpenFacts facts, string sysfs) => new(
        isSynchronous, system == Tmpfs,
        isSynchronous ? PmPlatform.DomainOf(facts.DeviceMajor, facts.DeviceMinor, sysfs) : PersistenceDomain.PmEmulated);

    private static (nint Map, bool IsSynchronous) MapShared(string path, int file, long system, long bytes, string setting)
    {
        void* map = Libc.mmap(null, (nint)bytes, Libc.PROT_READ | Libc.PROT_WRITE, MapSharedValidate | MapSync, file, 0);
        if ((nint)map != -1)
            return ((nint)map, true);
        // A file system that writes elsewhere each time may find no room when a page is stored to; that would end the process.
        if (system is not (Ext4 or Xfs or Tmpfs or Overlay or F2fs))
            throw Refused(path, "its file system cannot promise that there is room for a store",
                "name one on ext4 or xfs, with DAX", setting);
        map = Libc.mmap(null, (nint)bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, file, 0);
        return (nint)map != -1 ? ((nint)map, false)
            : throw NotMapped(path, Libc.Errno, setting);
    }

    private static GarnetException NotMapped(string path, int error, string setting) =>
        Refused(path, $"it cannot be mapped ({Reason(error)})", "look at the limits of the process's memory", setting);

    private static GarnetException NotOpened(string path, int error) => error switch
    {
        Libc.ENOENT => Refused(path, "it is not there", $"make it, on a file system that is mounted with DAX: {Making(path, 64 << 20)}"),
        Libc.EACCES or Libc.EPERM =>
            new GarnetException(ExitKind.Permission, What(path), "the server may not write to it", "give its user the right to"),
        _ => Refused(path, Reason(error), "name a plain file that the server may write to, not through a link"),
    };

    private static GarnetException Refused(string path, string why, string next, string setting = Setting) =>
        new(ExitKind.Configuration, What(path, setting), why, next);

    private static string What(string path, string setting = Setting) => $"{setting} cannot be used: {path}";

    private static string Making(string path, long bytes) => $"fallocate -l {bytes} {path} && chmod 600 {path}";

    private static string Reason(int error) => new System.ComponentModel.Win32Exception(error).Message;

    private readonly record struct PmMapping(bool IsSynchronous, bool IsMemory, PersistenceDomain Domain);
}
