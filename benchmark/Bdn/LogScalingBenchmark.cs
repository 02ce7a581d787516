using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>
/// SETs of 128 bytes by one and by several threads at once, with and without the log, over few and many lanes; the disk is a null
/// disk. Time of the whole divided by all SETs: with as many cores as threads, and nothing shared, it halves with each doubling.
/// As reactors do under everysec, each thread offers to write out after 256 SETs.
/// </summary>
[MemoryDiagnoser, MaxIterationCount(20)]
public unsafe class LogScalingBenchmark : IDisposable
{
    private const int Keys = 100_000, Operations = 1 << 17, WriteEvery = 256;
    private readonly LogTarget _target = new();
    private Thread[] _threads = [];
    private Barrier _gate = null!;
    private volatile bool _stop;

    /// <summary>Threads that write.</summary>
    [Params(1, 2)]
    public int Threads { get; set; }

    /// <summary>Partitions, and so lanes.</summary>
    [Params(16, 64, 256)]
    public int Lanes { get; set; }

    /// <summary>Whether there is a log.</summary>
    [Params(false, true)]
    public bool Log { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _target.Open(Lanes, Log);
        _gate = new Barrier(Threads + 1);
        _threads = [.. Enumerable.Range(0, Threads).Select(number => new Thread(() => Work(number)) { IsBackground = true })];
        foreach (Thread thread in _threads) thread.Start();
        for (int i = 0; i < 4; i++) Set(); // all keys are there
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _stop = true;
        _gate.SignalAndWait();
        foreach (Thread thread in _threads) thread.Join();
        _gate.Dispose();
        _target.Close();
        GC.SuppressFinalize(this);
    }

    /// <summary>All threads' SETs, from the common start to the last one's end.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    public void Set()
    {
        _gate.SignalAndWait();
        _gate.SignalAndWait();
    }

    private void Work(int number)
    {
        byte* room = (byte*)NativeMemory.AlignedAlloc(128, 64);
        StoreSession session = _target.Store.OpenSession();
        ulong random = 88172645463325252 + (ulong)number;
        while (true)
        {
            _gate.SignalAndWait();
            if (_stop) break;
            for (int i = 0; i < Operations / Threads; i++)
            {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                LogTarget.Set(session, _target.Key(room, 0, random % Keys), random);
                if (i % WriteEvery == WriteEvery - 1) WriteOut();
            }
            _gate.SignalAndWait();
        }
        NativeMemory.AlignedFree(room);
    }

    private void WriteOut()
    {
        if (_target.Log is not { } log) return;
        log.TryWrite();
        while (log.IsFull) Thread.Yield();
    }
}
