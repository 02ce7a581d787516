using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>How the kernel lays out an event (epoll_ctl(2)): packed on x64 only, 4 bytes of events, then 8 bytes of data at once or on the next 8-byte boundary.</summary>
public static unsafe class Epoll
{
    /// <summary>Where an event's data begin.</summary>
    public static readonly int DataOffset = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 4 : 8;

    /// <summary>Bytes of an event.</summary>
    public static readonly int EventBytes = DataOffset + sizeof(long);

    /// <summary>Room for an event on any processor.</summary>
    public const int EventBytesMax = 16;

    /// <summary>The data of one of the events that were waited for.</summary>
    public static long DataOf(byte* events, int index) => *(long*)(events + (index * EventBytes) + DataOffset);

    /// <summary>Watches a descriptor, otherwise, or no more; its events carry the data. False with errno set if the kernel refuses.</summary>
    public static bool Control(int epoll, int operation, int descriptor, uint mask, long data)
    {
        byte* request = stackalloc byte[EventBytesMax];
        *(uint*)request = mask;
        *(long*)(request + DataOffset) = data;
        return Libc.epoll_ctl(epoll, operation, descriptor, request) == 0;
    }
}
