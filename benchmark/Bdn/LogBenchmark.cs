using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>
/// What the log adds to a SET of 128 bytes (16-byte keys, batches of 16 with prefetch, a nudge per batch), and what
/// closing a batch of one entry costs over 64 lanes. The disk is a null disk; its writer works on another core, and while it
/// is behind by more than the bound, the benchmark waits as the server does.
/// </summary>
[MemoryDiagnoser, MaxIterationCount(20)]
public unsafe class LogBenchmark : IDisposable
{
    private const int Batch = 16, Batches = 1024, Lanes = 64, Seals = 256;
    private readonly KeyRef[] _refs = new KeyRef[Batch];
    private readonly nint[] _buckets = new nint[Batch];
    private readonly LogTarget _plain = new(), _logged = new();
    private byte* _keys;
    private ulong _random = 88172645463325252;

    /// <summary>Keys in the store: in cache and beyond.</summary>
    [Params(1_000, 1_000_000)]
    public int Keys { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _keys = (byte*)NativeMemory.AlignedAlloc(Batch * 32 + 64, 64);
        _plain.Open(Lanes, withLog: false);
        _logged.Open(Lanes, withLog: true);
        foreach (LogTarget target in (LogTarget[])[_plain, _logged])
        {
            for (int i = 0; i < Keys; i++)
            {
                target.Set(target.Key(_keys, 0, (ulong)i), 1);
                target.Nudge();
            }
        }
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _plain.Close();
        _logged.Close();
        NativeMemory.AlignedFree(_keys);
        GC.SuppressFinalize(this);
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Batch * Batches)]
    public void SetWithoutLog()
    {
        for (int i = 0; i < Batches; i++) Round(_plain);
    }

    [Benchmark(OperationsPerInvoke = Batch * Batches)]
    public void SetWithLog()
    {
        for (int i = 0; i < Batches; i++)
        {
            Round(_logged);
            _logged.Nudge();
        }
    }

    /// <summary>As a reactor does it under everysec: after a round of 256 commands the same thread closes the batch and copies it out.</summary>
    [Benchmark(OperationsPerInvoke = Batch * Batches)]
    public void SetAndWriteOut()
    {
        for (int i = 0; i < Batches; i++)
        {
            Round(_logged);
            if ((i & 15) == 15) _logged.Log!.TryWrite();
        }
    }

    /// <summary>An exclusive step closes a batch of one entry: all partition locks, all lanes, one part queued.</summary>
    [Benchmark(OperationsPerInvoke = Seals)]
    public void SealOneEntry()
    {
        for (int i = 0; i < Seals; i++)
        {
            _logged.Set(_logged.Key(_keys, 0, (ulong)i), 1);
            _logged.Log!.Hold();
            _logged.Log.Close();
            _logged.Log.Release();
        }
    }

    private void Round(LogTarget target)
    {
        for (int i = 0; i < Batch; i++)
        {
            _random ^= _random << 13;
            _random ^= _random >> 7;
            _random ^= _random << 17;
            _refs[i] = target.Key(_keys, i, _random % (ulong)Keys);
            _buckets[i] = target.Store.PrefetchBucket(_refs[i]);
        }
        for (int i = 0; i < Batch; i++) target.Store.PrefetchRecord(_refs[i], _buckets[i]);
        foreach (ref readonly KeyRef key in _refs.AsSpan()) target.Set(key, _random);
    }
}
