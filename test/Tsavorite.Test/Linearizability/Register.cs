using System.Runtime.InteropServices;

namespace Tsavorite.Test.Linearizability;

/// <summary>One thread's way to keys that hold numbers; values vary in length, so that they move about.</summary>
internal sealed unsafe class Register : IDisposable
{
    private readonly Store _store;
    private readonly StoreSession _session;
    private readonly byte* _key = (byte*)NativeMemory.AllocZeroed(64);
    private readonly Random _random;

    public Register(Store store, int seed)
    {
        _store = store;
        _session = store.OpenSession();
        _session.NowMs = 1000;
        _random = new Random(seed);
    }

    /// <summary>Make increments of a read and a write, for tests that want to see the fault.</summary>
    public bool SplitsIncrements { get; init; }

    public long? Ask(RegisterAsk ask, int key, long argument)
    {
        *(long*)_key = key;
        KeyRef name = _store.Key(_key, 8, 0);
        switch (ask)
        {
            case RegisterAsk.Get:
                return Get(name);
            case RegisterAsk.Delete:
                DeleteKey delete = default;
                return _session.Modify(name, ref delete) == Outcome.Done ? 1 : 0;
            default:
                bool adds = ask == RegisterAsk.Increment;
                long before = adds && SplitsIncrements ? Get(name) ?? 0 : 0;
                if (adds && SplitsIncrements) Thread.Yield();
                Put put = new() { Argument = before + argument, Adds = adds && !SplitsIncrements, Pad = _random.Next(60) };
                _session.Modify(name, ref put);
                return put.Result;
        }
    }

    public void Dispose()
    {
        _session.Dispose();
        NativeMemory.Free(_key);
    }

    private long? Get(in KeyRef name)
    {
        Peek peek = default;
        return _session.Read(name, ref peek) == Outcome.Done ? peek.Value : null;
    }

    // The number stands at both ends: a torn read shows.
    private struct Peek : IRead
    {
        public long Value;

        public void Look(in RecordView record)
        {
            long last = MemoryMarshal.Read<long>(record.ValueSpan[^8..]);
            Value = MemoryMarshal.Read<long>(record.ValueSpan);
            if (last != Value) Value = long.MinValue;
        }
    }

    private struct Put : IModify
    {
        public long Argument, Result;
        public bool Adds;
        public int Pad;

        public static byte OpId => 231;
        public readonly long EncodedBytesMax => 0;

        public Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            Result = Argument + (Adds && existing.Exists ? MemoryMarshal.Read<long>(existing.ValueSpan) : 0);
            next.ValueBytes = 16 + Pad;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
        {
            MemoryMarshal.Write(value, Result);
            MemoryMarshal.Write(value[^8..], Result);
        }

        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
