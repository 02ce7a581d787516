namespace Tsavorite;

/// <summary>
/// A long value as it was at one moment, where it lies, for as long as somebody sends it: it is let go once, by <see cref="Release"/>, from any thread, before
/// the store is closed.
/// store.P1  What is pinned keeps its bytes: another value for its key lies elsewhere, and memory that its record has left is nobody else's before the last pin is gone.
///     It counts as memory in use.
/// </summary>
public readonly unsafe struct PinnedValue
{
    private readonly RecordSpace? _records;
    private readonly uint _page;

    private PinnedValue(RecordSpace records, uint page, byte* bytes, int length)
    {
        (_records, _page) = (records, page);
        Bytes = bytes;
        Length = length;
    }

    /// <summary>Where it begins.</summary>
    public byte* Bytes { get; }

    /// <summary>Its bytes.</summary>
    public int Length { get; }

    /// <summary>True if there is one that is to be let go.</summary>
    public bool Exists => _records != null;

    /// <summary>True if its key has it no more: its memory is there for those who look at it alone.</summary>
    public bool IsLeft => _records?.IsLeft(_page) == true;

    /// <summary>
    /// Pins the string under the key; false if there is none, or it lies among short ones or on a tier, or the session holds locks. It is a look at the key that counts
    /// as no read of it.
    /// </summary>
    public static bool TryTake(StoreSession session, in KeyRef key, out PinnedValue value)
    {
        value = default;
        if (session.HoldsAny)
            return false;
        StoreCore core = session.Parts.Core;
        Partition* partition = Shape.PartitionOf(core.Shape, key.Hash);
        Partition.Enter(partition);
        ulong* slot = Bucket.Find(core.Shape, partition, Shape.BucketOf(core.Shape, partition, key.Hash), key);
        if (slot != null)
            value = Of(core.Records, core.Shape->Base + IndexWord.Offset(*slot), session.NowMs);
        if (core.Sketch is { } sketch)
            session.LastSeen = Math.Max(session.LastSeen, sketch.Of(partition->Number, key.Hash)); // store.U19
        Partition.Exit(partition);
        return value.Exists;
    }

    /// <summary>Lets it go.</summary>
    public void Release() => _records?.Unpin(_page);

    // The partition is locked: the record is there, and cannot leave before it is pinned.
    private static PinnedValue Of(RecordSpace records, byte* record, long nowMs)
    {
        long expireAtMs = Record.ExpireAtMs(record);
        bool isLive = expireAtMs == 0 || expireAtMs > nowMs;
        if (!isLive || Record.Kind(record) != RecordKind.String || (Record.Flags(record) & Record.ExtentFlag) == 0)
            return default;
        uint page = records.ExtentOf(record);
        records.Pin(page);
        return new PinnedValue(records, page, Record.Value(record), Record.ValueBytes(record));
    }
}
