namespace Garnet.Media;

/// <summary>Reads through an io_uring of the thread's own: no other thread, and no call for a read that has finished meanwhile.</summary>
internal sealed unsafe class RingReader(Ring ring, int file, int depth, bool mayBlock) : IMediumReader
{
    private int _underWay;

    /// <inheritdoc/>
    public int Room => depth - _underWay;

    /// <inheritdoc/>
    public void Begin(ulong token, long offset, byte* to, int bytes)
    {
        _underWay++;
        ring.Read(file, offset, to, bytes, token, mayBlock);
    }

    /// <inheritdoc/>
    public void Submit() => ring.Submit();

    /// <inheritdoc/>
    public int Take(Span<FinishedRead> finished)
    {
        int count = ring.Take(finished);
        _underWay -= count;
        return count;
    }

    /// <inheritdoc/>
    public void Wait(int milliseconds)
    {
        if (_underWay != 0)
            ring.Wait(milliseconds);
    }

    /// <inheritdoc/>
    public void WakeNobody()
    {
        // The kernel has the descriptor for as long as it has the ring, whoever closes it.
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Span<FinishedRead> finished = stackalloc FinishedRead[16];
        while (_underWay > 0)
        {
            ring.Wait(Timeout.Infinite); // the kernel still writes to the callers' memory
            Take(finished);
        }
        ring.Dispose();
    }
}
