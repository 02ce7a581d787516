using System.ComponentModel;
using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Load.Machine;

/// <summary>A level-triggered epoll set whose entries are numbers of the caller.</summary>
internal sealed unsafe class Poller : IDisposable
{
    private const int EventsMax = 512;

    private readonly int _descriptor = Libc.epoll_create1(Libc.EPOLL_CLOEXEC);
    private readonly Event* _events = (Event*)NativeMemory.AllocZeroed(EventsMax, (nuint)sizeof(Event));

    public void Add(int descriptor, int number) => Control(Libc.EPOLL_CTL_ADD, descriptor, Libc.EPOLLIN, number);

    public void WatchWrites(int descriptor, int number, bool on) =>
        Control(Libc.EPOLL_CTL_MOD, descriptor, on ? Libc.EPOLLIN | Libc.EPOLLOUT : Libc.EPOLLIN, number);

    public int Wait(int timeoutMs)
    {
        int count = Libc.epoll_wait(_descriptor, _events, EventsMax, timeoutMs);
        return Math.Max(0, count);
    }

    public int Number(int index) => _events[index].Number;

    public bool CanWrite(int index) => (_events[index].Bits & Libc.EPOLLOUT) != 0;

    public bool CanRead(int index) => (_events[index].Bits & ~Libc.EPOLLOUT) != 0;

    public void Dispose()
    {
        _ = Libc.close(_descriptor);
        NativeMemory.Free(_events);
    }

    private void Control(int operation, int descriptor, uint bits, int number)
    {
        Event entry = new() { Bits = bits, Number = number };
        if (Libc.epoll_ctl(_descriptor, operation, descriptor, &entry) < 0) throw new Win32Exception(Libc.Errno);
    }

    [StructLayout(LayoutKind.Sequential, Pack = 4)]
    private struct Event
    {
        public uint Bits;
        public int Number;
        public int Unused;
    }
}
