using System.Text;
using Garnet.Common.Linux;

namespace Garnet.Aof.Disk;

/// <summary>
/// The file <c>NAME.tail</c> beside a <see cref="StagedFile"/> NAME, mapped into memory: a ring with the last bytes written to NAME.
/// Storing into it is a plain copy, and what is stored belongs to the system: it outlives the process, not the machine.
/// Layout, little endian: magic, bytes of the ring, the two ends (64 bits each), 36 characters that name the system's run
/// (<c>boot_id</c>), 4 zeros, a random number that stands in NAME's header too and the length of NAME (64 bits each); from byte 4,096 on the ring, where the byte for offset x of NAME stands at x modulo its size.
/// </summary>
internal sealed unsafe class StagingFile : IDisposable
{
    /// <summary>Size of the ring: what a slow disk may be behind before writers wait for it, bytes.</summary>
    public const int RingBytes = 2 << 20;
    /// <summary>What the name ends with.</summary>
    public const string Suffix = ".tail";

    /// <summary>What the first end is a multiple of, and the length of NAME.</summary>
    private const int BlockBytes = 4096;

    private const int HeaderBytes = 4096, BootIdAt = 32, BootIdBytes = 36, NumberWord = 9, LengthWord = 10, MapShared = 1;
    private const int MapPopulate = 0x8000, FileBytes = HeaderBytes + RingBytes;
    private const ulong Magic = 0x31_4C_41_54_47_41_4E_47; // "GNAGTAL1"
    private static readonly byte[]? BootId = ReadBootId();
    private byte* _map;

    /// <summary>The system's run that a ring belongs to; empty where it cannot be told.</summary>
    public static string Run => BootId is null ? "" : Encoding.ASCII.GetString(BootId);

    private string _path;

    private StagingFile(byte* map, string path)
    {
        _map = map;
        _path = path;
    }

    /// <summary>Everything of NAME before it has been handed to the disk.</summary>
    public long Drained
    {
        get => (long)Volatile.Read(ref Word(2));
        set => Volatile.Write(ref Word(2), (ulong)value);
    }

    /// <summary>Everything of NAME before it has been written; set after the bytes stand in the ring, for a process may be killed in between.</summary>
    public long Written
    {
        get => (long)Volatile.Read(ref Word(3));
        set => Volatile.Write(ref Word(3), (ulong)value);
    }

    /// <summary>Which ring it is: another one for every file.</summary>
    public ulong Number
    {
        get => Word(NumberWord);
        private set => Word(NumberWord) = value;
    }

    /// <summary>Length of NAME; 0 = not known.</summary>
    public long FileLength
    {
        get => (long)Word(LengthWord);
        set => Word(LengthWord) = (ulong)value;
    }

    /// <summary>
    /// Creates the file; null on a file system where a store into mapped memory may fail later (<see cref="IsSafe"/>), and where the system does not
    /// tell one boot from the next.
    /// </summary>
    /// <exception cref="DiskException">The disk is full.</exception>
    public static StagingFile? TryCreate(string path)
    {
        if (BootId is null || !IsSafe(System.IO.Path.GetDirectoryName(path)!))
            return null;
        LinuxFile.Delete(path); // one of that name was left by an earlier process, and has been read
        using LinuxFile file = LinuxFile.Create(path, FileBytes, FileCaching.Buffered);
        try
        {
            // Written, not only made so long: a block that is not there yet would be looked for at the first store to its page, and where the
            // disk is full then, the store would end the process (SIGBUS).
            file.Write(0, new byte[FileBytes]);
            if (Map(file, path) is not { } staging)
                throw LinuxFile.Failure("map", path);
            BootId.CopyTo(new Span<byte>(staging._map + BootIdAt, BootIdBytes));
            staging.Word(1) = RingBytes;
            staging.Number = NewNumber();
            staging.Word(0) = Magic;
            return staging;
        }
        catch (DiskException)
        {
            LinuxFile.Delete(path);
            throw;
        }
    }

    /// <summary>Opens what another process has left; null if it is not whole, or of an earlier run of the system.</summary>
    public static StagingFile? TryOpen(string path)
    {
        using LinuxFile file = LinuxFile.Open(path);
        if (file.Length != FileBytes || BootId is null || Map(file, path) is not { } staging)
            return null;
        bool whole = staging.Word(0) == Magic && staging.Word(1) == RingBytes
            && AreBounds(staging.Drained, staging.Written, staging.FileLength)
            && new ReadOnlySpan<byte>(staging._map + BootIdAt, BootIdBytes).SequenceEqual(BootId);
        if (whole)
            return staging;
        staging.Dispose();
        return null;
    }

    // What a header may say of the two ends: whoever reads the ring goes by them, from block to block.
    private static bool AreBounds(long drained, long written, long fileLength) =>
        drained >= 0 && drained % BlockBytes == 0 && written >= drained && written - drained <= RingBytes
        && fileLength >= 0 && fileLength % BlockBytes == 0 && (fileLength == 0 || written <= fileLength);

    /// <summary>True if the file is whole, and of a run of the system that has ended: what it holds is of no use.</summary>
    public static bool IsOfEarlierRun(string path)
    {
        using LinuxFile file = LinuxFile.Open(path);
        byte[] head = new byte[HeaderBytes];
        return BootId is not null && file.Length == FileBytes && file.Read(0, head) == HeaderBytes
            && BitConverter.ToUInt64(head) == Magic && !head.AsSpan(BootIdAt, BootIdBytes).SequenceEqual(BootId);
    }

    /// <summary>The bytes of NAME from the offset on, as far as they stand in one piece.</summary>
    public Span<byte> At(long offset, long bytesMax)
    {
        int at = (int)(offset % RingBytes);
        return new Span<byte>(_map + HeaderBytes + at, (int)Math.Min(bytesMax, RingBytes - at));
    }

    /// <summary>
    /// Belongs to another file from now on, of which nothing is written yet. All that was written to the one before is in it: should
    /// the process be killed here, the ring says of it what is so, or nothing that is believed.
    /// </summary>
    /// <exception cref="DiskException">It cannot be renamed.</exception>
    public void MoveTo(string path)
    {
        Written = Drained;
        Drained = 0;
        Written = 0;
        Number = NewNumber();
        LinuxFile.Rename(_path, path);
        _path = path;
    }

    /// <summary>Deletes the file and gives the memory back.</summary>
    public void Delete()
    {
        LinuxFile.Delete(_path);
        Dispose();
    }

    /// <summary>Gives the memory back; the file stays.</summary>
    public void Dispose()
    {
        if (_map != null)
            _ = Libc.munmap(_map, FileBytes);
        _map = null;
    }

    private static ulong NewNumber() => BitConverter.ToUInt64(Libc.RandomBytes(sizeof(ulong))) | 1; // 0 = none

    private ref ulong Word(int index) => ref ((ulong*)_map)[index];

    private static StagingFile? Map(LinuxFile file, string path)
    {
        void* map = Libc.mmap(null, FileBytes, Libc.PROT_READ | Libc.PROT_WRITE, MapShared | MapPopulate, file.Descriptor, 0);
        return (nint)map == -1 ? null : new StagingFile((byte*)map, path);
    }

    // A file system that writes elsewhere each time may find no room when a page is stored to; that would end the process.
    private static bool IsSafe(string directory)
    {
        fixed (byte* path = LinuxFile.Text(directory))
            return Libc.FileSystemOf(path) is 0xEF53 or 0x58465342 or 0x01021994 or 0x794C7630 or 0xF2F52010;
    }

    private static byte[]? ReadBootId()
    {
        try
        {
            string text = File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();
            return text.Length == BootIdBytes ? Encoding.ASCII.GetBytes(text) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
