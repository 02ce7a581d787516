using System.Collections.Concurrent;

namespace Garnet.Media;

/// <summary>
/// The threads that read for all <see cref="PooledReader"/>s of a medium; started with the first read. While the medium keeps all of them waiting others
/// are started, so that a read that it answers need not stand behind those that it does not.
/// </summary>
internal sealed class ReadThreads : IDisposable
{
    private const int Threads = 4; // as many reads as one disk of the common kind serves at once without waiting
    /// <summary>
    /// With those, as many as the sessions of two cores begin side by side before the first of them is late (<c>DeviceReads</c> of the store begins few more where those lie).
    /// Each is 8 MiB of addresses only, and ends when it has nothing to do.
    /// </summary>
    private const int ThreadsMax = Threads + 128;
    /// <summary>A read that takes longer is held up by something else than its turn; one more thread in that time is no burden.</summary>
    public const int HeldUpMs = 100;
    private const int IdleMs = 1000, CloseMs = 1000;
    private readonly BlockingCollection<PooledRead> _reads = [];
    private readonly Lock _gate = new();
    private readonly List<Reading> _threads = [];
    private volatile bool _isStarted, _isClosed;

    /// <summary>Adds a read.</summary>
    public void Add(in PooledRead read)
    {
        if (!_isStarted)
            Start();
        _reads.Add(read);
    }

    /// <summary>Starts one more thread if reads wait, and all threads are held up. For whoever waits for a read, now and then.</summary>
    public void Relieve()
    {
        if (_reads.Count == 0)
            return;
        lock (_gate)
        {
            long heldUpFrom = Environment.TickCount64 - HeldUpMs;
            if (!_isClosed && _threads.Count < ThreadsMax && _threads.TrueForAll(thread => thread.IsBusySince(heldUpFrom)))
                Start(isExtra: true);
        }
    }

    /// <summary>Those that the medium holds up stay behind, and read nothing more.</summary>
    public void Dispose()
    {
        _isClosed = true;
        _reads.CompleteAdding();
        Thread[] threads;
        lock (_gate) threads = [.. _threads.Select(static thread => thread.Thread)];
        bool haveEnded = true;
        foreach (Thread thread in threads) haveEnded &= thread.Join(haveEnded ? CloseMs : 0);
        if (haveEnded)
            _reads.Dispose();
    }

    private void Start()
    {
        lock (_gate)
        {
            for (int i = 0; i < Threads && !_isStarted; i++) Start(isExtra: false);
            _isStarted = true;
        }
    }

    private void Start(bool isExtra)
    {
        Reading reading = new(this, isExtra);
        _threads.Add(reading);
        reading.Thread.Start();
    }

    private void Run(Reading reading)
    {
        while (_reads.TryTake(out PooledRead read, reading.IsExtra ? IdleMs : Timeout.Infinite) && !_isClosed)
        {
            reading.Begin();
            read.Reader.Run(read);
            reading.End();
        }
        lock (_gate) _threads.Remove(reading);
    }

    private sealed class Reading
    {
        private long _busySince; // 0: it waits for a read

        public Reading(ReadThreads threads, bool isExtra)
        {
            IsExtra = isExtra;
            Thread = new Thread(() => threads.Run(this)) { IsBackground = true, Name = "tier reads" };
        }

        public Thread Thread { get; }

        /// <summary>It ends when there is nothing to read.</summary>
        public bool IsExtra { get; }

        public void Begin() => Volatile.Write(ref _busySince, Environment.TickCount64);

        public void End() => Volatile.Write(ref _busySince, 0);

        public bool IsBusySince(long moment) => Volatile.Read(ref _busySince) is not 0 and var since && since <= moment;
    }
}
