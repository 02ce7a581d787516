using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>The index alone: hashing, finding the bucket, and looks that end at a miss or at the record's header.</summary>
[MemoryDiagnoser]
public unsafe class IndexProbeBenchmark : IDisposable
{
    private const int Probes = 16_384, KeyRoom = 32;
    private Store _store = null!;
    private StoreSession _session = null!;
    private byte* _keys;

    /// <summary>Keys in the store.</summary>
    [Params(1_000, 1_000_000)]
    public int Keys { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _store = new Store(new StoreSettings { MemoryLimitBytes = 1L << 30 });
        _session = _store.OpenSession();
        _keys = (byte*)NativeMemory.AlignedAlloc((nuint)(Probes * KeyRoom + 64), 64);
        for (int i = 0; i < Keys; i++)
        {
            Touch touch = default;
            _session.Modify(Write(0, (ulong)i), ref touch);
        }
        ulong random = 88172645463325252;
        for (int i = 0; i < Probes; i++)
        {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            Write(i, random % (ulong)Keys);
        }
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _store.Dispose();
        NativeMemory.AlignedFree(_keys);
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Probes)]
    public ulong Hash()
    {
        ulong sum = 0;
        for (int i = 0; i < Probes; i++) sum += Key(i, 0).Hash;
        return sum;
    }

    [Benchmark(OperationsPerInvoke = Probes)]
    public nint Locate()
    {
        nint last = 0;
        for (int i = 0; i < Probes; i++) last ^= _store.PrefetchBucket(Key(i, 0));
        return last;
    }

    [Benchmark(OperationsPerInvoke = Probes)]
    public long Hit() => Look(0);

    /// <summary>The same bytes in a namespace that holds nothing.</summary>
    [Benchmark(OperationsPerInvoke = Probes)]
    public long Miss() => Look(1);

    private long Look(uint ns)
    {
        Glance glance = default;
        for (int i = 0; i < Probes; i++) _session.Read(Key(i, ns), ref glance);
        return glance.Bytes;
    }

    private KeyRef Key(int slot, uint ns) => _store.Key(_keys + slot * KeyRoom, 16, ns);

    private KeyRef Write(int slot, ulong number)
    {
        ulong* key = (ulong*)(_keys + slot * KeyRoom);
        key[0] = number;
        key[1] = number * 0x9E3779B97F4A7C15;
        return Key(slot, 0);
    }

    private struct Glance : IRead
    {
        public long Bytes;
        public void Look(in RecordView record) => Bytes = record.ValueBytes;
    }

    private struct Touch : IModify
    {
        public static byte OpId => 252;
        public readonly long EncodedBytesMax => 0;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = 8;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => value.Clear();
        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
