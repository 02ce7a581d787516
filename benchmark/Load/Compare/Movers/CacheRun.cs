using System.Diagnostics;
using System.Runtime.InteropServices;
using Garnet.Load.Machine;
using Garnet.Load.Traffic;
using Tsavorite;

namespace Garnet.Load.Compare.Movers;

/// <summary>
/// A full store in this process that is read, and written where a read has found nothing, by one thread at a constant rate. How long an operation took is counted
/// from when it was due: what an earlier one has kept it waiting counts.
/// </summary>
internal sealed unsafe class CacheRun : IDisposable
{
    private const int KeyBytes = 16, SlackBytes = 64, NamespaceOfAll = 0;
    private readonly Store _store;
    private readonly StoreSession _session;
    private readonly CacheProfile _profile;
    private readonly byte* _key = (byte*)NativeMemory.AlignedAlloc(KeyBytes + SlackBytes, SlackBytes);

    /// <summary>The store's own thread runs on <paramref name="moverCore"/>, if it has one (<paramref name="ahead"/>); -1: anywhere.</summary>
    public CacheRun(long memoryBytes, CacheProfile profile, bool ahead, int moverCore)
    {
        _profile = profile;
        if (moverCore >= 0) Cores.PinThread(moverCore); // threads take it over from who starts them
        _store = new Store(new StoreSettings { MemoryLimitBytes = memoryBytes, Policy = EvictionPolicy.AllKeysLru, BackgroundMovers = ahead });
        _session = _store.OpenSession();
    }

    public Latencies Gets { get; } = new();

    public Latencies Sets { get; } = new();

    public double HitShare { get; private set; }

    /// <summary>Writes each key once, so that memory is full several times over.</summary>
    public void Fill()
    {
        for (long key = _profile.Keys - 1; key >= 0; key--) Set(key);
    }

    /// <summary>Operations a second when nobody waits.</summary>
    public double Saturate(double seconds)
    {
        long from = Stopwatch.GetTimestamp(), done = 0;
        for (; Stopwatch.GetElapsedTime(from).TotalSeconds < seconds; done++) Step(out _);
        return done / Stopwatch.GetElapsedTime(from).TotalSeconds;
    }

    /// <summary>The same at a constant rate, with what each took.</summary>
    public void Run(double rate, double seconds)
    {
        long reads = _session.Hits + _session.Misses, hits = _session.Hits, from = Stopwatch.GetTimestamp();
        double ticks = Stopwatch.Frequency / rate, nsOfTick = 1e9 / Stopwatch.Frequency;
        long count = (long)(rate * seconds);
        for (long i = 0; i < count; i++)
        {
            long due = from + (long)(i * ticks);
            while (Stopwatch.GetTimestamp() < due)
            {
            }
            Step(out bool wrote);
            (wrote ? Sets : Gets).Add((long)((Stopwatch.GetTimestamp() - due) * nsOfTick));
        }
        HitShare = (_session.Hits - hits) / (double)Math.Max(1, _session.Hits + _session.Misses - reads);
    }

    public void Dispose()
    {
        _store.Dispose();
        NativeMemory.AlignedFree(_key);
    }

    private void Step(out bool wrote)
    {
        long key = _profile.NextKey();
        wrote = !_profile.NextIsGet() || !TryGet(key);
        if (wrote) Set(key);
    }

    private bool TryGet(long key)
    {
        long hits = _session.Hits;
        Touch touch = default;
        _session.Read(RefOf(key), ref touch);
        return _session.Hits != hits;
    }

    private void Set(long key)
    {
        if (_store.Tight && !_session.Room.Ensure(0) && !_session.Room.EnsureInPlace(0)) throw new InvalidOperationException("no room, though all may be evicted");
        Put put = new(CacheProfile.LengthOf(key));
        Outcome outcome = _session.Modify(RefOf(key), ref put);
        if (outcome != Outcome.Done) throw new InvalidOperationException($"a write ended with {outcome}");
    }

    private KeyRef RefOf(long key)
    {
        ((ulong*)_key)[0] = (ulong)key;
        ((ulong*)_key)[1] = (ulong)key * 0x9E3779B97F4A7C15;
        return _store.Key(_key, KeyBytes, NamespaceOfAll);
    }

    private struct Touch : IRead
    {
        private int _bytes; // so that the look is not left out

        public void Look(in RecordView record) => _bytes = record.ValueBytes;
    }

    private readonly struct Put(int bytes) : IModify
    {
        public static byte OpId => 251;

        public long EncodedBytesMax => 0;

        public Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = bytes;
            return Verdict.Put;
        }

        public void Write(in RecordView existing, Span<byte> value, bool inPlace) => value.Fill((byte)bytes);

        public int Encode(Span<byte> to) => 0;

        public bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
