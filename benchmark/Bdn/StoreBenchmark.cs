using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using BenchmarkDotNet.Attributes;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>Reads, overwrites and misses of 16-byte keys with 64-byte values, in batches of 16 with two-pass prefetch.</summary>
[MemoryDiagnoser]
public unsafe class StoreBenchmark : IDisposable
{
    private const int Batch = 16, Batches = 1024;
    private readonly KeyRef[] _refs = new KeyRef[Batch];
    private readonly nint[] _buckets = new nint[Batch];
    private Store _store = null!;
    private StoreSession _session = null!;
    private byte* _keys, _reply;
    private ulong _random = 88172645463325252;

    /// <summary>Keys in the store: in cache and beyond.</summary>
    [Params(1_000, 5_000_000)]
    public int Keys { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _store = new Store(new StoreSettings { MemoryLimitBytes = 2L << 30 });
        _session = _store.OpenSession();
        _keys = (byte*)NativeMemory.AlignedAlloc(Batch * 32 + 64, 64);
        _reply = (byte*)NativeMemory.AlignedAlloc(4096, 64);
        for (int i = 0; i < Keys; i++) Overwrite(KeyAt(0, (ulong)i));
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _store.Dispose();
        NativeMemory.AlignedFree(_keys);
        NativeMemory.AlignedFree(_reply);
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Batch * Batches)]
    public long Read()
    {
        for (int i = 0; i < Batches; i++)
        {
            Prepare(0);
            foreach (ref readonly KeyRef key in _refs.AsSpan())
            {
                Copy copy = new() { To = _reply };
                _session.Read(key, ref copy);
            }
        }
        return _session.Hits;
    }

    [Benchmark(OperationsPerInvoke = Batch * Batches)]
    public long Probe()
    {
        for (int i = 0; i < Batches; i++)
        {
            Prepare((ulong)Keys);
            foreach (ref readonly KeyRef key in _refs.AsSpan())
            {
                Copy copy = new() { To = _reply };
                _session.Read(key, ref copy);
            }
        }
        return _session.Misses;
    }

    [Benchmark(OperationsPerInvoke = Batch * Batches)]
    public void Write()
    {
        for (int i = 0; i < Batches; i++)
        {
            Prepare(0);
            foreach (ref readonly KeyRef key in _refs.AsSpan()) Overwrite(key);
        }
    }

    private void Overwrite(in KeyRef key)
    {
        Fill fill = new() { Seed = _random };
        _session.Modify(key, ref fill);
    }

    private void Prepare(ulong offset)
    {
        for (int i = 0; i < Batch; i++)
        {
            _random ^= _random << 13;
            _random ^= _random >> 7;
            _random ^= _random << 17;
            _refs[i] = KeyAt(i, _random % (ulong)Keys + offset);
            _buckets[i] = _store.PrefetchBucket(_refs[i]);
        }
        for (int i = 0; i < Batch; i++) _store.PrefetchRecord(_refs[i], _buckets[i]);
    }

    private KeyRef KeyAt(int slot, ulong number)
    {
        ulong* key = (ulong*)(_keys + slot * 32);
        key[0] = number;
        key[1] = number * 0x9E3779B97F4A7C15;
        return _store.Key((byte*)key, 16, 0);
    }

    private struct Copy : IRead
    {
        public byte* To;

        public readonly void Look(in RecordView record)
        {
            int bytes = Math.Min(record.ValueBytes, 4000);
            for (int i = 0; i < bytes; i += 32) Vector256.Load(record.Value + i).Store(To + i);
        }
    }

    private struct Fill : IModify
    {
        public ulong Seed;
        public static byte OpId => 251;
        public readonly long EncodedBytesMax => 0;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = 64;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
            MemoryMarshal.Cast<byte, ulong>(value).Fill(Seed);
        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
