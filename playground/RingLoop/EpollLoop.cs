using Garnet.Common.Linux;

namespace Garnet.RingLoop;

/// <summary>The loop of the server's transport, without a server.</summary>
internal static unsafe class EpollLoop
{
    private const int EventsMax = 32, EventBytes = 12, DataAt = 4, BufferBytes = 1 << 16; // x64
    private const int SolTcp = 6, NoDelay = 1;

    public static void Run(int listener)
    {
        int epoll = Libc.epoll_create1(Libc.EPOLL_CLOEXEC);
        byte* events = stackalloc byte[EventsMax * EventBytes];
        byte[] memory = GC.AllocateArray<byte>(BufferBytes, pinned: true);
        fixed (byte* buffer = memory)
        {
            Watch(epoll, listener);
            while (true)
            {
                int count = Libc.epoll_wait(epoll, events, EventsMax, -1);
                for (int i = 0; i < count; i++)
                {
                    int descriptor = *(int*)(events + (i * EventBytes) + DataAt);
                    if (descriptor == listener)
                        Accept(epoll, listener);
                    else
                        Serve(descriptor, buffer);
                }
            }
        }
    }

    private static void Accept(int epoll, int listener)
    {
        for (int made; (made = Libc.accept4(listener, null, null, Libc.SOCK_NONBLOCK | Libc.SOCK_CLOEXEC)) >= 0;)
        {
            int one = 1;
            _ = Libc.setsockopt(made, SolTcp, NoDelay, &one, sizeof(int));
            Pings.Forget(made);
            Watch(epoll, made);
        }
    }

    private static void Serve(int descriptor, byte* buffer)
    {
        nint got = Libc.recv(descriptor, buffer, BufferBytes, 0);
        if (got <= 0)
        {
            if (got == 0 || Libc.Errno != Libc.EAGAIN)
                _ = Libc.close(descriptor);
            return;
        }
        int reply = Pings.Take(descriptor, (int)got);
        if (reply != 0)
            _ = Libc.send(descriptor, Pings.Replies, reply, Libc.MSG_NOSIGNAL);
    }

    private static void Watch(int epoll, int descriptor)
    {
        byte* request = stackalloc byte[16];
        *(uint*)request = Libc.EPOLLIN;
        *(long*)(request + DataAt) = descriptor;
        _ = Libc.epoll_ctl(epoll, Libc.EPOLL_CTL_ADD, descriptor, request);
    }
}
