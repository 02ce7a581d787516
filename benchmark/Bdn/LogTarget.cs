using System.Runtime.InteropServices;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>A store with or without a log over a null disk, and a SET of 128 bytes into it.</summary>
internal sealed unsafe class LogTarget
{
    private const int ValueBytes = 128;
    private StoreSession _session = null!;
    private uint _ns;
    public Store Store { get; private set; } = null!;
    public AppendOnlyLog? Log { get; private set; }

    public void Open(int lanes, bool withLog)
    {
        if (withLog) Log = new AppendOnlyLog(new AofSettings(), new NullDisk(), SystemClock.Instance);
        Store = new Store(new StoreSettings { MemoryLimitBytes = 1L << 30, Partitions = lanes, Log = Log });
        Log?.Attach(Store);
        Log?.Start(new AofStart(1, 0, [], lanes, 1));
        _session = Store.OpenSession();
        _ns = Store.Namespaces.Id(0);
    }

    public void Nudge()
    {
        Log?.Nudge();
        while (Log is { IsFull: true }) Thread.Yield();
    }

    public void Close()
    {
        Log?.Dispose();
        Store.Dispose();
    }

    public KeyRef Key(byte* room, int slot, ulong number)
    {
        ulong* key = (ulong*)(room + slot * 32);
        key[0] = number;
        key[1] = number * 0x9E3779B97F4A7C15;
        return Store.Key((byte*)key, 16, _ns);
    }

    public void Set(in KeyRef key, ulong seed) => Set(_session, key, seed);

    /// <summary>The same by another thread, which has a session of its own.</summary>
    public static void Set(StoreSession session, in KeyRef key, ulong seed)
    {
        Fill fill = new() { Seed = seed };
        session.Modify(key, ref fill);
    }

    private struct Fill : IModify
    {
        public ulong Seed;
        public static byte OpId => 250;
        public readonly long EncodedBytesMax => ValueBytes;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = ValueBytes;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
            MemoryMarshal.Cast<byte, ulong>(value).Fill(Seed);

        public readonly int Encode(Span<byte> to)
        {
            MemoryMarshal.Cast<byte, ulong>(to[..ValueBytes]).Fill(Seed);
            return ValueBytes;
        }

        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
