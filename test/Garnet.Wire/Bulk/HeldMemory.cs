using System.Runtime.InteropServices;

namespace Garnet.Wire.Bulk;

/// <summary>Memory whose pages nobody gets before they are served (userfaultfd), not even the kernel on behalf of another process.</summary>
internal sealed unsafe class HeldMemory : IDisposable
{
    private const int ReadWrite = 3, PrivateAnonymous = 0x22, CloseOnExec = 0x80000;
    private const ulong Version = 0xAA, OfMissingPages = 1;
    private const nuint AskVersion = 0xC018AA3F, Register = 0xC020AA00, ServeZeros = 0xC020AA04;

    private readonly int _faults;

    private HeldMemory(int faults, nint at, int bytes) => (_faults, At, Bytes) = (faults, at, bytes);

    public nint At { get; }

    public int Bytes { get; }

    /// <summary>Null where the system lets nobody hold pages of the kernel's.</summary>
    public static HeldMemory? TryMake(int bytes)
    {
        int call = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 282 : 323;
        int faults = (int)SystemCall(call, CloseOnExec);
        if (faults < 0)
            return null;
        nint at = Map(0, (nuint)bytes, ReadWrite, PrivateAnonymous, -1, 0);
        ulong* words = stackalloc ulong[4] { Version, 0, 0, 0 };
        bool isHeld = Control(faults, AskVersion, words) == 0;
        (words[0], words[1], words[2], words[3]) = ((ulong)at, (ulong)bytes, OfMissingPages, 0);
        isHeld = isHeld && Control(faults, Register, words) == 0;
        return isHeld ? new HeldMemory(faults, at, bytes) : null;
    }

    /// <summary>Whoever waits goes on.</summary>
    public void Serve()
    {
        ulong* words = stackalloc ulong[4] { (ulong)At, (ulong)Bytes, 0, 0 };
        Control(_faults, ServeZeros, words);
    }

    public void Dispose()
    {
        Close(_faults);
        Unmap(At, (nuint)Bytes);
    }

    [DllImport("libc", EntryPoint = "syscall")] private static extern long SystemCall(long number, long flags);

    [DllImport("libc", EntryPoint = "ioctl")] private static extern int Control(int descriptor, nuint request, void* words);

    [DllImport("libc", EntryPoint = "mmap")] private static extern nint Map(nint at, nuint bytes, int access, int flags, int descriptor, long offset);

    [DllImport("libc", EntryPoint = "munmap")] private static extern int Unmap(nint at, nuint bytes);

    [DllImport("libc", EntryPoint = "close")] private static extern int Close(int descriptor);
}
