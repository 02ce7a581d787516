using System.Numerics;

namespace Tsavorite;

/// <summary>
/// What a record that came back from the tier keeps of what it was there: its place, which use of the segment that was, and its checksum. The tier counts it as dead from then on.
/// store.C13: if the record has not changed since, and nothing else has become of the place, its word names that again and nothing is written. Whoever changes a record
/// where it lies sets the checksum to 0 first (<see cref="Drop"/>); what is put elsewhere has none from the beginning.
/// </summary>
internal static unsafe class CleanCopy
{
    /// <summary>A segment that was used so often takes nothing back: the number of its use does not come round.</summary>
    public const uint UsesMax = (1u << (64 - UsesShift)) - 1;
    private const int UsesShift = 36;

    /// <summary>
    /// True if it is worth 8 bytes: not of what comes back only to be changed, but of pieces, as a change looks at more of these than it changes. Of what has segments of its own
    /// nothing is left on the tier: they are free once it is dead.
    /// </summary>
    public static bool IsKept(ColdTier tier, byte* image, TierCount why) =>
        (why != TierCount.Returned || Record.Kind(image) == RecordKind.Chunk) && ColdRecord.BytesOf(image) <= tier.Segments.RecordBytesMax;

    /// <summary>Where the place stands in a record that has these flags, or would stand.</summary>
    public static int FieldOffset(byte flags) =>
        Record.HeaderBytes + (BitOperations.PopCount((uint)(flags & (Record.TtlFlag | Record.ETagFlag))) * Record.FieldBytes);

    /// <summary>Bytes that the place takes in the record.</summary>
    public static int FieldBytes(byte* record) => (Record.Flags(record) & Record.CopyFlag) != 0 ? Record.FieldBytes : 0;

    /// <summary>Where the word's record lies on the tier, and which use of the segment that is.</summary>
    public static ulong PlaceOf(ColdTier tier, ulong word) =>
        (word & IndexWord.AddressMask) | (ulong)Math.Min(tier.Segments[tier.Segments.NumberOf(word)]->Uses, UsesMax) << UsesShift;

    /// <summary>Makes a record in memory of an image, with its place; 0: without.</summary>
    public static void Write(byte* record, byte* image, int bytes, ulong place)
    {
        if (place == 0)
        {
            Buffer.MemoryCopy(image, record, bytes, bytes);
            *(uint*)record = 0;
            return;
        }
        int before = FieldOffset(Record.Flags(image));
        Buffer.MemoryCopy(image, record, before, before);
        *(ulong*)(record + before) = place;
        Buffer.MemoryCopy(image + before, record + before + Record.FieldBytes, bytes - before, bytes - before);
        record[5] |= Record.CopyFlag;
    }

    /// <summary>The record is about to change where it lies; its partition is locked. A store, and no question: it stands on the way of every change.</summary>
    public static void Drop(byte* record)
    {
        if (!StoreTestHooks.Has(PlantedFault.KeepCopyOfChanged))
            *(uint*)record = 0;
    }

    /// <summary>True if the record, whose partition is locked and which <paramref name="word"/> names, has not changed since it came back: where it was, as a word, and which use of the segment that was.</summary>
    public static bool TryFind(byte* record, ulong word, out ulong cold, out uint uses)
    {
        (cold, uses) = (0, 0);
        if (*(uint*)record == 0 || FieldBytes(record) == 0)
            return false;
        ulong place = *(ulong*)(record + FieldOffset(Record.Flags(record)));
        cold = ColdAddress.Word(word, ColdAddress.Offset(place));
        uses = (uint)(place >> UsesShift);
        return uses < UsesMax;
    }

    /// <summary>True if the record still has the checksum that it had in that place: a second look, should anybody have changed it and not said so.</summary>
    public static bool IsSound(byte* record, in ColdPlace place)
    {
        byte* header = stackalloc byte[Record.HeaderBytes];
        Buffer.MemoryCopy(record, header, Record.HeaderBytes, Record.HeaderBytes);
        ColdRecord.BeCold(header);
        int before = FieldOffset(Record.Flags(record)), passed = FieldBytes(record);
        ColdSum sum = place.Begin(header);
        sum.AddFirst(header, Record.HeaderBytes);
        sum.Add(record + Record.HeaderBytes, before - Record.HeaderBytes);
        sum.Add(record + before + passed, ColdRecord.BytesOf(record) - before);
        return *(uint*)record == sum.Value || StoreTestHooks.Has(PlantedFault.ReviveReused);
    }
}
