using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>Stores with something in them, and all that a client could read of them.</summary>
internal static unsafe class Filled
{
    public static Store Store(int keys, int valueBytes = 50, int seed = 1)
    {
        Store store = Empty();
        using StoreSession session = store.OpenSession();
        Random random = new(seed);
        byte* key = stackalloc byte[64];
        for (int i = 0; i < keys; i++)
        {
            *(long*)key = i;
            byte[] value = new byte[i % 500 == 7 ? 100_000 : random.Next(valueBytes)];
            random.NextBytes(value);
            Put put = new() { Value = value, ExpireAtMs = i % 5 == 0 ? 9_000_000_000_000 + i : 0, ETag = (ulong)i % 3 };
            session.Modify(store.Key(key, 8, store.Namespaces.Id(i % 3)), ref put);
        }
        return store;
    }

    /// <summary>Puts in values of a kind that is judged.</summary>
    public static void AddLists(Store store, int keys)
    {
        using StoreSession session = store.OpenSession();
        byte* key = stackalloc byte[64];
        for (int i = 0; i < keys; i++)
        {
            *(long*)key = i;
            Put put = new() { Value = [(byte)i, 1], Kind = RecordKind.List };
            session.Modify(store.Key(key, 8, store.Namespaces.Id(i % 3)), ref put);
        }
    }

    public static Store Empty(long limit = 256 << 20) => new(new StoreSettings
    {
        BackgroundMovers = false,
        Partitions = 4,
        HugePages = false,
        MemoryLimitBytes = limit,
        ReserveBytes = 1L << 30,
    });

    public static SortedDictionary<string, string> Content(Store store)
    {
        Everything all = new() { Found = new SortedDictionary<string, string>(StringComparer.Ordinal) };
        using StoreSession session = store.OpenSession();
        for (int database = 0; database < 3; database++)
        {
            all.Database = database;
            ulong cursor = 0;
            do cursor = session.Scan(store.Namespaces.Id(database), cursor, 1000, ref all);
            while (cursor != 0);
        }
        return all.Found;
    }

    private struct Everything : IRead
    {
        public SortedDictionary<string, string> Found;
        public int Database;

        public readonly void Look(in RecordView record) => Found[$"{Database}:{Convert.ToHexString(record.KeySpan)}"] =
            $"{record.Kind} {record.ExpireAtMs} {record.ETag} {Convert.ToHexString(record.ValueSpan)}";
    }

    internal struct Put : IModify
    {
        public byte[] Value;
        public long ExpireAtMs;
        public ulong ETag;
        public RecordKind Kind;
        public static byte OpId => 200;
        public readonly long EncodedBytesMax => 0;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            (next.ValueBytes, next.ExpireAtMs, next.ETag) = (Value.Length, ExpireAtMs, ETag);
            if (Kind != default) next.Kind = Kind;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => Value.CopyTo(value);
        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }
}
