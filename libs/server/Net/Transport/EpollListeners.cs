using Garnet.Common.Linux;

namespace Garnet.Server.Net;

/// <summary>The few descriptors the acceptor waits for, and a way to wake it.</summary>
internal sealed unsafe class EpollListeners : IDisposable
{
    private const int EventsMax = 16;

    private readonly int _epoll = Libc.epoll_create1(Libc.EPOLL_CLOEXEC);
    private readonly WakeEvent _wakeup = new();
    // Made before it is needed: it is needed when no descriptor is left.
    private readonly int _pause = Libc.epoll_create1(Libc.EPOLL_CLOEXEC);
    private readonly List<int> _ready = [];

    internal EpollListeners()
    {
        Add(_wakeup.Descriptor);
        Epoll.Control(_pause, Libc.EPOLL_CTL_ADD, _wakeup.Descriptor, Libc.EPOLLIN, _wakeup.Descriptor);
    }

    /// <summary>Adds a descriptor, watched for reading.</summary>
    internal void Add(int descriptor) => Epoll.Control(_epoll, Libc.EPOLL_CTL_ADD, descriptor, Libc.EPOLLIN, descriptor);

    /// <summary>Waits; the listeners with somebody to accept.</summary>
    internal List<int> Wait()
    {
        byte* events = stackalloc byte[EventsMax * Epoll.EventBytesMax];
        int count = Libc.epoll_wait(_epoll, events, EventsMax, -1);
        _ready.Clear();
        for (int i = 0; i < count; i++)
        {
            int descriptor = (int)Epoll.DataOf(events, i);
            if (descriptor != _wakeup.Descriptor)
                _ready.Add(descriptor);
        }

        return _ready;
    }

    /// <summary>Waits for the time, or until woken for the stop.</summary>
    internal void Pause(int milliseconds)
    {
        byte* nothing = stackalloc byte[Epoll.EventBytesMax];
        _ = Libc.epoll_wait(_pause, nothing, 1, milliseconds);
    }

    /// <summary>Ends the current or next wait, for good: the wakeup is never drained, it means the stop.</summary>
    internal void Wake() => _wakeup.Set();

    /// <inheritdoc/>
    public void Dispose()
    {
        _ = Libc.close(_epoll);
        _ = Libc.close(_pause);
        _wakeup.Dispose();
    }
}
