using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>The three calls of io_uring(7), which the C library has no names for, and what waits for one. Their numbers are the same on x64 and arm64.</summary>
public static unsafe partial class Libc
{
    public const int MAP_SHARED = 1, MAP_POPULATE = 0x8000;
    private const int SetupCall = 425, EnterCall = 426, RegisterCall = 427;

    /// <summary>io_uring_setup(2): a descriptor, or -1.</summary>
    public static int SetUpRing(uint entries, void* parameters) => (int)syscall(SetupCall, (nint)entries, (nint)parameters, 0, 0, 0, 0);

    /// <summary>io_uring_enter(2): how many entries were taken, or -1.</summary>
    public static int EnterRing(int ring, uint submit, uint complete, uint flags) =>
        (int)syscall(EnterCall, ring, (nint)submit, (nint)complete, (nint)flags, 0, 0);

    /// <summary>io_uring_register(2): 0, or -1.</summary>
    public static int RegisterRing(int ring, uint operation, void* argument, uint count) =>
        (int)syscall(RegisterCall, ring, (nint)operation, (nint)argument, (nint)count, 0, 0);

    /// <summary>Waits until the descriptor, of a ring that something has completed in, can be read from, and for so long at most (poll(2)).</summary>
    public static void AwaitReadable(int descriptor, int milliseconds)
    {
        const short Input = 1;
        PollRequest request = new() { Descriptor = descriptor, Events = Input };
        _ = poll(&request, 1, milliseconds); // one that a signal ends early is one that is over: its caller looks, and waits again
    }

    [LibraryImport(Name)] private static partial int poll(PollRequest* requests, nuint count, int timeoutMs);

    private struct PollRequest
    {
        public int Descriptor;
        public short Events, Returned;
    }
}
