using System.Runtime.InteropServices;
using System.Text;

namespace Garnet.Common.Linux;

/// <summary>What a directory that belongs to one process needs: a lock that dies with its holder, and who owns a file.</summary>
public static unsafe partial class Libc
{
    private const int CurrentDirectory = -100, ReadWrite = 2, Create = 0x40, CloseOnExec = 0x80000;
    private const int MayEnter = 1, MayWriteInto = 2;
    private const int LockExclusive = 2, LockWithoutWaiting = 4, OwnerReadsAndWrites = 0x180;
    private const int NoFollowLink = 0x100, WantFacts = 0x1 | 0x2 | 0x8 | 0x80 | 0x100; // type, mode, owner, change, inode
    private const int StatxBytes = 256, StatxUidOffset = 20, StatxModeOffset = 28, StatxInodeOffset = 32, StatxChangedOffset = 96;
    private const int EmptyPath = 0x1000, WantLinks = 0x4, StatxLinksOffset = 16, StatfsBytes = 256;
    private const int WantTypeAndSize = 0x1 | 0x2 | 0x8 | 0x200, StatxSizeOffset = 40, StatxDeviceOffset = 136;

    // One of the flags that differ between the processors that Linux runs on.
    private static int NoFollow => RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm ? 0x8000 : 0x20000;

    /// <summary>Opens or creates a file to be locked, never through a symbolic link; -1 with errno set if that fails.</summary>
    public static int OpenLockFile(byte* path) =>
        openat(CurrentDirectory, path, ReadWrite | Create | NoFollow | CloseOnExec, OwnerReadsAndWrites);

    /// <summary>Takes the exclusive lock of an open file; false if another process (or another opening) has it.</summary>
    public static bool TryLock(int descriptor) => flock(descriptor, LockExclusive | LockWithoutWaiting) == 0;

    /// <summary>What the file system says of a file (of the link itself, if it is one); null with errno set if it cannot be seen.</summary>
    public static FileFacts? FactsOf(byte* path) => FactsOf(path, NoFollowLink);

    /// <summary>What the file system says of a file, or of what a link leads to; null with errno set if it cannot be seen.</summary>
    public static FileFacts? FactsBehindLinks(string path)
    {
        fixed (byte* bytes = Encoding.UTF8.GetBytes(path + '\0'))
            return FactsOf(bytes, flags: 0);
    }

    private static FileFacts? FactsOf(byte* path, int flags)
    {
        byte* facts = stackalloc byte[StatxBytes];
        return statx(CurrentDirectory, path, flags, WantFacts, facts) != 0 ? null : new FileFacts(
            *(uint*)(facts + StatxUidOffset), *(ushort*)(facts + StatxModeOffset), *(ulong*)(facts + StatxInodeOffset),
            *(long*)(facts + StatxChangedOffset), *(uint*)(facts + StatxChangedOffset + sizeof(long)));
    }

    /// <summary>False if an open file has no name any more: who closes it loses it. True if that cannot be told.</summary>
    public static bool HasName(int descriptor)
    {
        byte* facts = stackalloc byte[StatxBytes];
        byte none = 0;
        return statx(descriptor, &none, EmptyPath, WantLinks, facts) != 0 || *(uint*)(facts + StatxLinksOffset) != 0;
    }

    /// <summary>What the file system says of an open file; null with errno set if it says nothing.</summary>
    public static OpenFacts? FactsOf(int descriptor)
    {
        byte* facts = stackalloc byte[StatxBytes];
        byte none = 0;
        return statx(descriptor, &none, EmptyPath, WantTypeAndSize, facts) != 0 ? null : new OpenFacts(
            *(uint*)(facts + StatxUidOffset), *(ushort*)(facts + StatxModeOffset), *(long*)(facts + StatxSizeOffset),
            *(uint*)(facts + StatxDeviceOffset), *(uint*)(facts + StatxDeviceOffset + sizeof(uint)));
    }

    /// <summary>The magic number of the file system that holds a directory (statfs); 0 if it cannot be seen.</summary>
    public static long FileSystemOf(byte* path)
    {
        long* facts = stackalloc long[StatfsBytes / sizeof(long)];
        return statfs(path, facts) == 0 ? facts[0] : 0;
    }

    /// <summary>The same of an open file.</summary>
    public static long FileSystemOf(int descriptor)
    {
        long* facts = stackalloc long[StatfsBytes / sizeof(long)];
        return fstatfs(descriptor, facts) == 0 ? facts[0] : 0;
    }

    /// <summary>True if this process may make files in a directory: its rights, and whether the file system takes any.</summary>
    public static bool MayWrite(string directory)
    {
        fixed (byte* path = Encoding.UTF8.GetBytes(directory + '\0'))
            return access(path, MayWriteInto | MayEnter) == 0;
    }

    /// <summary>User id this process acts as.</summary>
    [LibraryImport(Name)] public static partial uint geteuid();

    [LibraryImport(Name)] private static partial int openat(int directory, byte* path, int flags, uint mode);
    [LibraryImport(Name)] private static partial int access(byte* path, int rights);
    [LibraryImport(Name)] private static partial int flock(int descriptor, int operation);
    [LibraryImport(Name)] private static partial int statfs(byte* path, void* facts);
    [LibraryImport(Name)] private static partial int fstatfs(int descriptor, void* facts);
    [LibraryImport(Name)] private static partial int statx(int directory, byte* path, int flags, uint mask, void* facts);
}
