namespace Garnet.Common.Linux;

/// <summary>
/// An eventfd(2), by which any thread wakes one that waits for it. Some still do a moment after it is closed, as they were about to: its number may be another's descriptor by then, a
/// client's connection, which would find eight bytes in it that nobody has sent. So setting and closing exclude each other.
/// </summary>
public sealed unsafe class WakeEvent : IDisposable
{
    private readonly Lock _gate = new();
    private bool _isClosed;

    /// <summary>The descriptor, for whoever waits for it and for the kernel; negative if none was to be had.</summary>
    public int Descriptor { get; } = Libc.eventfd(0, Libc.EFD_NONBLOCK | Libc.EFD_CLOEXEC);

    /// <summary>Wakes who waits, or who waits next. From any thread; nothing once it is closed.</summary>
    public void Set()
    {
        ulong one = 1;
        lock (_gate)
        {
            if (!_isClosed)
                _ = Libc.write(Descriptor, &one, sizeof(ulong));
        }
    }

    /// <summary>Takes what was set; by who waits.</summary>
    public void Reset()
    {
        ulong count;
        _ = Libc.read(Descriptor, &count, sizeof(ulong));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            if (!_isClosed && Descriptor >= 0)
                _ = Libc.close(Descriptor);
            _isClosed = true;
        }
    }
}
