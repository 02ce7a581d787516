using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Faults;

[assembly: DisableRuntimeMarshalling]
[module: SkipLocalsInit]

namespace Garnet.Common.Linux;

/// <summary>
/// Every call of the C library that the product makes, and nothing else. Signatures are blittable, so that the
/// transition is compiled inline; errno is read only after a failure (<see cref="Errno"/>).
/// </summary>
public static unsafe partial class Libc
{
    private const string Name = "libc";

    public const int EINTR = 4, EAGAIN = 11, EACCES = 13, EAFNOSUPPORT = 97, EADDRINUSE = 98, EADDRNOTAVAIL = 99,
        ENFILE = 23, EMFILE = 24, ENOMEM = 12;
    public const int ECONNABORTED = 103;
    public const int EPERM = 1, ENOENT = 2, ENXIO = 6, EEXIST = 17, EINVAL = 22, ENOSPC = 28, EDQUOT = 122, EOPNOTSUPP = 95, EIO = 5;
    public const int EFBIG = 27, ETIMEDOUT = 110, ECANCELED = 125;

    public const int AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, SOCK_STREAM = 1, SOCK_NONBLOCK = 0x800, SOCK_CLOEXEC = 0x80000;
    public const int SOL_SOCKET = 1, SO_REUSEADDR = 2, SO_KEEPALIVE = 9, IPPROTO_TCP = 6, TCP_NODELAY = 1;
    public const int TCP_KEEPIDLE = 4, TCP_KEEPINTVL = 5;
    private const int SIGINT = 2, SIGPIPE = 13, SIGXFSZ = 25, SIG_DFL = 0, SIG_IGN = 1;
    public const int TCP_KEEPCNT = 6, IPPROTO_IPV6 = 41, IPV6_V6ONLY = 26, MSG_NOSIGNAL = 0x4000, MSG_DONTWAIT = 0x40;

    public const int EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL = 2, EPOLL_CTL_MOD = 3, EPOLL_CLOEXEC = 0x80000;
    public const uint EPOLLIN = 1, EPOLLOUT = 4, EPOLLERR = 8, EPOLLHUP = 16, EPOLLRDHUP = 0x2000;
    public const int EFD_NONBLOCK = 0x800, EFD_CLOEXEC = 0x80000;

    public const int O_RDONLY = 0, O_RDWR = 2, O_CREAT = 0x40, O_EXCL = 0x80, O_CLOEXEC = 0x80000;
    // These three differ between the processors that Linux runs on.
    public static readonly int O_DIRECT = IsArm ? 0x10000 : 0x4000, O_DIRECTORY = IsArm ? 0x4000 : 0x10000;
    public static readonly int O_NOFOLLOW = IsArm ? 0x8000 : 0x20000;

    public const int PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20, MAP_NORESERVE = 0x4000;
    public const int MADV_DONTNEED = 4, MADV_HUGEPAGE = 14, MADV_NOHUGEPAGE = 15, RLIMIT_NOFILE = 7, MS_SYNC = 4;

    /// <summary>The calling thread's errno; read it first thing after a failed call.</summary>
    public static int Errno => *ErrnoLocation();

    private static bool IsArm => RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm;

    [LibraryImport(Name, EntryPoint = "__errno_location"), SuppressGCTransition]
    private static partial int* ErrnoLocation();

    [LibraryImport(Name)] public static partial int epoll_create1(int flags);
    [LibraryImport(Name)] public static partial int epoll_ctl(int epoll, int operation, int descriptor, void* packedEvent);
    [LibraryImport(Name)] public static partial int epoll_wait(int epoll, void* events, int eventsMax, int timeoutMs);
    [LibraryImport(Name)] public static partial int eventfd(uint initial, int flags);
    [LibraryImport(Name)] public static partial nint read(int descriptor, void* buffer, nint bytes);
    [LibraryImport(Name)] public static partial nint write(int descriptor, void* buffer, nint bytes);
    [LibraryImport(Name)] public static partial int close(int descriptor);

    private const int M_ARENA_MAX = -8, M_MMAP_THRESHOLD = -3;
    private const int ArenasMax = 2, MappedFromBytes = 1 << 20;
    [LibraryImport(Name)] private static partial int mallopt(int option, int value);
    /// <summary>
    /// Has the C library give back what is freed: as it comes it keeps a heap for each thread, and puts large blocks among the small ones once one of their size was
    /// freed. Of no effect where the C library has no such options.
    /// </summary>
    public static void KeepHeapSmall()
    {
        try
        {
            mallopt(M_ARENA_MAX, ArenasMax);
            mallopt(M_MMAP_THRESHOLD, MappedFromBytes);
        }
        catch (EntryPointNotFoundException)
        {
        }
    }

    [LibraryImport(Name)] private static partial int malloc_trim(nuint keptBytes);
    /// <summary>Gives back to the system what was freed between blocks that are in use. Takes some milliseconds for each 100 MB. Of no effect where the C library has no such call.</summary>
    public static void TrimHeap()
    {
        try
        {
            malloc_trim(0);
        }
        catch (EntryPointNotFoundException)
        {
        }
    }

    [LibraryImport(Name)] private static partial nint signal(int number, nint action);
    /// <summary>Lets Ctrl-C be heard again where whoever started the process had it ignored.</summary>
    public static void HeedInterrupt() => signal(SIGINT, SIG_DFL);

    /// <summary>OpenSSL writes to sockets without saying that a peer who has left is no reason to end the process.</summary>
    public static void OutlivePeers() => signal(SIGPIPE, SIG_IGN);

    /// <summary>A write past the limit of file sizes (ulimit -f) fails with EFBIG, and does not end the process without a word.</summary>
    public static void OutliveFileLimit() => signal(SIGXFSZ, SIG_IGN);

    [LibraryImport(Name)] public static partial int open(byte* path, int flags, uint mode);
    [LibraryImport(Name)] public static partial nint pread(int descriptor, void* buffer, nint bytes, long offset);
    [LibraryImport(Name)] public static partial nint pwrite(int descriptor, void* buffer, nint bytes, long offset);
    [LibraryImport(Name)] public static partial int fsync(int descriptor);
    [LibraryImport(Name)] public static partial int fdatasync(int descriptor);
    [LibraryImport(Name)] public static partial int fallocate(int descriptor, int mode, long offset, long bytes);
    [LibraryImport(Name)] public static partial int ftruncate(int descriptor, long bytes);
    [LibraryImport(Name)] public static partial int sync_file_range(int descriptor, long offset, long bytes, uint flags);
    [LibraryImport(Name)] public static partial long lseek(int descriptor, long offset, int whence);
    [LibraryImport(Name)] public static partial int rename(byte* from, byte* to);

    [LibraryImport(Name)] public static partial int socket(int family, int type, int protocol);
    [LibraryImport(Name)] public static partial int bind(int descriptor, void* address, uint addressBytes);
    [LibraryImport(Name)] public static partial int listen(int descriptor, int backlog);
    [LibraryImport(Name)] public static partial int accept4(int descriptor, void* address, uint* addressBytes, int flags);
    [LibraryImport(Name)] public static partial int connect(int descriptor, void* address, uint addressBytes);
    [LibraryImport(Name)] public static partial int getsockname(int descriptor, void* address, uint* addressBytes);
    [LibraryImport(Name)] public static partial int setsockopt(int descriptor, int level, int option, void* value, uint valueBytes);
    [LibraryImport(Name)] public static partial nint recv(int descriptor, void* buffer, nint bytes, int flags);
    [LibraryImport(Name)] public static partial nint send(int descriptor, void* buffer, nint bytes, int flags);
    [LibraryImport(Name)] private static partial nint sendmsg(int descriptor, MessageHeader* message, int flags);
    /// <summary>Sends several pieces with one call: bytes taken, -1 as <see cref="send"/>.</summary>
    public static nint SendAll(int descriptor, ReadOnlySpan<IoVector> pieces, int flags)
    {
        fixed (IoVector* first = pieces)
        {
            MessageHeader message = new() { Pieces = first, PieceCount = pieces.Length };
            return sendmsg(descriptor, &message, flags);
        }
    }

    /// <summary>struct iovec: a piece of memory.</summary>
    public struct IoVector(byte* bytes, nint count)
    {
        public byte* Bytes = bytes;
        public nint Count = count;
    }

    /// <summary>struct msghdr, as it is on 64-bit systems.</summary>
    private struct MessageHeader
    {
        public void* Address;
        public nint AddressBytes;
        public IoVector* Pieces;
        public nint PieceCount;
        public void* Control;
        public nint ControlBytes;
        public nint Flags;
    }


    [LibraryImport(Name)]
    public static partial void* mmap(void* address, nint bytes, int protection, int flags, int descriptor, nint offset);
    [LibraryImport(Name)] public static partial int munmap(void* address, nint bytes);
    [LibraryImport(Name)] public static partial int msync(void* address, nint bytes, int flags);
    [LibraryImport(Name)] public static partial int madvise(void* address, nint bytes, int advice);
    [LibraryImport(Name)] public static partial int chmod(byte* path, uint mode);
    [LibraryImport(Name)] public static partial uint umask(uint mask);
    [LibraryImport(Name)] public static partial int unlink(byte* path);
    [LibraryImport(Name)] public static partial int clock_gettime(int clock, long* secondsAndNanoseconds);
    [LibraryImport(Name)] public static partial int sched_setaffinity(int thread, nint maskBytes, void* mask);
    [LibraryImport(Name)] public static partial int sched_getaffinity(int thread, nint maskBytes, void* mask);
    [LibraryImport(Name)] public static partial int sched_getcpu();
    /// <summary>
    /// Bytes that nobody can guess. The kernel's are taken: the framework's come from OpenSSL, which takes a good part of a start to load.
    /// </summary>
    public static byte[] RandomBytes(int count)
    {
        byte[] bytes = new byte[count];
        int filled = 0;
        fixed (byte* first = bytes)
        {
            while (filled < count)
            {
                nint more = getrandom(first + filled, count - filled, 0);
                if (more > 0)
                    filled += (int)more;
                else Check.That(Errno == EINTR, "the kernel has random bytes");
            }
        }
        return bytes;
    }

    [LibraryImport(Name)] private static partial nint getrandom(void* buffer, nint bytes, uint flags);

    /// <summary>
    /// The calling thread works only while others leave room: on a core of their own nothing changes, on a shared one they go first,
    /// and it still gets a tenth of what each of them gets, or a third.
    /// </summary>
    /// <param name="keepsThird">A third: somebody waits for what it does.</param>
    public static void StepBack(bool keepsThird = false)
    {
        const int OfThread = 0, Caller = 0, Tenth = 10, Third = 5; // nice values: each step is a quarter (sched(7))
        _ = setpriority(OfThread, Caller, keepsThird ? Third : Tenth);
    }

    [LibraryImport(Name)] private static partial int setpriority(int which, int who, int priority);

    /// <summary>Sleeps while the word has the value, until <see cref="Wake"/>, for so many milliseconds at most (-1: no limit) (futex(2)).</summary>
    public static void WaitWhile(int* word, int value, int timeoutMs)
    {
        const int WaitPrivate = 128;
        long* limit = stackalloc long[] { timeoutMs / 1000, timeoutMs % 1000 * 1_000_000L };
        _ = syscall(FutexCall, (nint)word, WaitPrivate, value, timeoutMs < 0 ? 0 : (nint)limit, 0, 0);
    }

    /// <summary>Wakes a thread that sleeps at the word.</summary>
    public static void Wake(int* word)
    {
        const int WakePrivate = 129;
        _ = syscall(FutexCall, (nint)word, WakePrivate, 1, 0, 0, 0);
    }

    private static nint FutexCall => RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 202 : 98;

    // All of its arguments go into registers on the processors that the runtime knows, so that it can be called like others.
    [LibraryImport(Name)]
    private static partial nint syscall(nint number, nint word, nint operation, nint value, nint timeout, nint word2, nint value3);
    [LibraryImport(Name)] public static partial int getrlimit(int resource, ulong* softAndHard);
    [LibraryImport(Name)] public static partial int setrlimit(int resource, ulong* softAndHard);
}
