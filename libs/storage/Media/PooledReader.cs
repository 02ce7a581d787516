using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>Reads by a few threads of the medium's, where the kernel has no io_uring or does not let us use it.</summary>
internal sealed unsafe class PooledReader(ReadThreads threads, int file, int depth, ReaderWake wake) : IMediumReader
{
    private readonly Lock _gate = new();
    private readonly Queue<FinishedRead> _finished = new();
    private readonly AutoResetEvent _arrived = new(false);
    private readonly List<PooledRead> _begun = [];
    private int _underWay;
    private bool _wakesNobody;

    /// <inheritdoc/>
    public int Room => depth - _underWay;

    /// <inheritdoc/>
    public void Begin(ulong token, long offset, byte* to, int bytes)
    {
        _underWay++;
        _begun.Add(new PooledRead(this, token, offset, (nint)to, bytes));
    }

    /// <inheritdoc/>
    public void Submit()
    {
        foreach (PooledRead read in _begun) threads.Add(read);
        _begun.Clear();
    }

    /// <inheritdoc/>
    public int Take(Span<FinishedRead> finished)
    {
        int count = 0;
        threads.Relieve();
        lock (_gate)
        {
            while (count < finished.Length && _finished.TryDequeue(out FinishedRead read)) finished[count++] = read;
        }
        _underWay -= count;
        return count;
    }

    /// <inheritdoc/>
    public void Wait(int milliseconds)
    {
        Submit();
        bool isEndless = milliseconds == Timeout.Infinite;
        while (_underWay != 0 && !HasFinished() && (isEndless || milliseconds > 0))
        {
            int slice = isEndless ? ReadThreads.HeldUpMs : Math.Min(milliseconds, ReadThreads.HeldUpMs);
            if (!_arrived.WaitOne(slice)) // it may have been set for what was taken since
                milliseconds -= isEndless ? 0 : slice;
            threads.Relieve();
        }
    }

    /// <inheritdoc/>
    public void WakeNobody()
    {
        lock (_gate) _wakesNobody = true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Span<FinishedRead> finished = stackalloc FinishedRead[16];
        while (_underWay > 0)
        {
            Wait(Timeout.Infinite);
            Take(finished);
        }
        _arrived.Dispose();
    }

    /// <summary>Reads, on a thread of the pool.</summary>
    internal void Run(PooledRead read)
    {
        nint got = Libc.pread(file, (void*)read.To, read.Bytes, read.Offset);
        FinishedRead finished = new(read.Token, got >= 0 ? (int)got : -Libc.Errno);
        lock (_gate)
        {
            _finished.Enqueue(finished);
            _arrived.Set(); // under the lock: once the owner has taken the last one it disposes of this
            if (!_wakesNobody)
                Wake();
        }
    }

    private void Wake()
    {
        wake.Event?.Set();
        wake.Call?.Invoke();
    }

    private bool HasFinished()
    {
        lock (_gate) return _finished.Count != 0;
    }
}
