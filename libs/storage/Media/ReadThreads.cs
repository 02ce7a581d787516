using System.Collections.Concurrent;

namespace Garnet.Media;

/// <summary>The threads that read for all <see cref="PooledReader"/>s of a medium; started with the first read.</summary>
internal sealed class ReadThreads : IDisposable
{
    private const int Threads = 4; // as many reads as one disk of the common kind serves at once without waiting
    private readonly BlockingCollection<PooledRead> _reads = [];
    private readonly Lock _gate = new();
    private Thread[]? _threads;

    /// <summary>Adds a read.</summary>
    public void Add(in PooledRead read)
    {
        if (Volatile.Read(ref _threads) is null)
            Start();
        _reads.Add(read);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reads.CompleteAdding();
        foreach (Thread thread in _threads ?? []) thread.Join();
        _reads.Dispose();
    }

    private void Start()
    {
        lock (_gate)
        {
            if (_threads is not null)
                return;
            Thread[] threads = new Thread[Threads];
            for (int i = 0; i < Threads; i++)
            {
                threads[i] = new Thread(Run) { IsBackground = true, Name = "tier reads" };
                threads[i].Start();
            }
            Volatile.Write(ref _threads, threads);
        }
    }

    private void Run()
    {
        foreach (PooledRead read in _reads.GetConsumingEnumerable()) read.Reader.Run(read);
    }
}
