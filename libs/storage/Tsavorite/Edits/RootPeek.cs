using System.Runtime.Intrinsics.X86;

namespace Tsavorite;

/// <summary>
/// A record with chunks as it looks without the lock: good for hints to the memory, never for an answer. It may be changed, moved or
/// gone meanwhile, so that any byte read is a guess; what is read lies in mapped memory all the same.
/// </summary>
public readonly unsafe struct RootPeek
{
    private readonly Shape* _shape;
    private readonly ulong _hash;
    private readonly StoreCore _core;

    private RootPeek(StoreCore core, ulong hash, byte* record)
    {
        _core = core;
        _shape = core.Shape;
        _hash = hash;
        Kind = Record.Kind(record);
        Owner = Record.Owner(record);
        Value = Record.Value(record);
    }

    /// <summary>What the value is.</summary>
    public RecordKind Kind { get; }

    /// <summary>The number shared with the chunks.</summary>
    public ulong Owner { get; }

    /// <summary>First byte of the value.</summary>
    public byte* Value { get; }

    /// <summary>Looks the key up in its bucket (<see cref="Store.PrefetchBucket"/>); false if there is no record with chunks.</summary>
    public static bool TryAt(Store store, in KeyRef key, nint bucket, int valueBytes, out RootPeek peek)
    {
        peek = default;
        Shape* shape = store.Core.Shape;
        ulong* slot = Bucket.Find(shape, Shape.PartitionOf(shape, key.Hash), (byte*)bucket, key, out ulong word, out _);
        byte* record = slot == null ? null : Shape.RecordOf(shape, word);
        if (record == null || Record.Owner(record) == 0 || Record.Value(record) + valueBytes > shape->RecordsLimit)
            return false;
        peek = new RootPeek(store.Core, key.Hash, record);
        return true;
    }

    /// <summary>Brings the bucket of a chunk towards the cache; returns the chunk's hash for <see cref="PrefetchChunk"/>.</summary>
    public ulong PrefetchBucket(uint number)
    {
        ulong hash = ChunkKey.Hash(_core, _hash, Owner, number);
        if (Sse.IsSupported)
            Sse.Prefetch0(Shape.BucketOf(_shape, Shape.PartitionOf(_shape, hash), hash));
        return hash;
    }

    /// <summary>Brings the beginning of a chunk towards the cache; returns its record, or null.</summary>
    public static byte* PrefetchChunk(Store store, ulong hash)
    {
        Shape* shape = store.Core.Shape;
        byte* bucket = Shape.BucketOf(shape, Shape.PartitionOf(shape, hash), hash);
        uint matches = Bucket.Matches(bucket, Shape.TagOf(shape, hash));
        if (matches == 0)
            return null;
        byte* record = Shape.RecordOf(shape, ((ulong*)bucket)[System.Numerics.BitOperations.TrailingZeroCount(matches)]);
        if (record == null || !Sse.IsSupported)
            return record;
        Sse.Prefetch0(record);
        Sse.Prefetch0(record + 64);
        return record;
    }

    /// <summary>The value of a record that <see cref="PrefetchChunk"/> returned, null if that cannot be one.</summary>
    public static byte* ChunkValue(Store store, byte* record, out int bytes)
    {
        byte* value = Record.Value(record);
        bytes = Record.ValueBytes(record);
        return bytes >= 0 && value + bytes <= store.Core.Shape->RecordsLimit ? value : null;
    }
}
