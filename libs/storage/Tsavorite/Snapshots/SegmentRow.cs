using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// A segment of a tier as a snapshot names it, 64 bytes (website/docs/format/snapshot.md). Little endian, as all of it. A segment that continues another
/// (store.C10) has a row of its own, which says of which it does.
/// </summary>
[StructLayout(LayoutKind.Sequential, Size = Bytes)]
internal unsafe struct SegmentRow
{
    public const int Bytes = 64;
    public const uint NamespacesMax = 1 << 24;

    public ulong Life;
    public long MinExpiryMs, MaxExpiryMs;
    public uint Number;
    public int Band, Used;
    /// <summary>Records put into it; of a segment that continues another, how many lie before it in the run.</summary>
    public int Records;
    public uint Namespace;
    public int Database;
    /// <summary>Records of it that the snapshot refers to; for a segment that continues another, the number of the first segment of the run.</summary>
    public int Named;
    /// <summary>1 if a record in it may have parts that expire on their own, else 0.</summary>
    public int TimedParts;
    /// <summary>What tells its last page (<see cref="ColdEnd"/>).</summary>
    public ulong End;

    public static SegmentRow Of(uint number, ColdSegment* segment, int database, int named) => new()
    {
        Life = segment->Life, MinExpiryMs = segment->MinExpiryMs, MaxExpiryMs = segment->MaxExpiryMs, Number = number, Band = segment->Band,
        Used = segment->Used, Records = segment->Records, Namespace = (uint)segment->Namespace, Database = database, Named = named,
        TimedParts = segment->TimedFromMs == long.MaxValue ? 0 : 1, End = segment->End,
    };

    /// <summary>The row of a segment that continues the one <paramref name="first"/> is of.</summary>
    public static SegmentRow Behind(in SegmentRow first, uint number, ColdSegment* segment, int place) => new()
    {
        Life = segment->Life, Number = number, Band = segment->Band, Used = segment->Used, Records = place, Namespace = first.Namespace,
        Database = first.Database, Named = (int)first.Number, End = segment->End,
    };

    /// <summary>True if a run begins with it, in segments of that size; and if it continues another.</summary>
    public readonly bool IsRun(int segmentBytes) => Band == ColdSegments.BandsOf(segmentBytes);

    /// <inheritdoc cref="IsRun"/>
    public readonly bool IsFollower(int segmentBytes) => Band == ColdSegments.BandsOf(segmentBytes) + 1;

    /// <summary>False if it says what cannot be of a tier with segments of that size.</summary>
    public readonly bool IsPossible(int segmentBytes)
    {
        int bands = ColdSegments.BandsOf(segmentBytes) + 2;
        bool hasPlace = Life != 0 && End != 0 && Number is > 0 and <= uint.MaxValue >> 1 && (uint)Band < (uint)bands;
        bool isOfRun = IsRun(segmentBytes) || IsFollower(segmentBytes);
        bool hasRecords = Used >= ColdHead.Bytes && Used <= segmentBytes && Records > 0 && Named > 0
            && (isOfRun ? Used > ColdSegments.PageBytes : Records <= Used / ColdAddress.UnitBytes)
            && (IsFollower(segmentBytes) || (Named <= Records && (Records == 1 || !isOfRun)));
        return hasPlace && hasRecords && Namespace < NamespacesMax && (uint)Database < NamespaceTable.DatabasesMax
            && MinExpiryMs >= 0 && MaxExpiryMs >= 0 && TimedParts is 0 or 1;
    }

    /// <summary>Makes the descriptor one of a segment that is in use.</summary>
    public readonly void CopyTo(ColdSegment* segment, ColdState state)
    {
        segment->State = state;
        segment->Uses++;
        segment->IsDoubtful = 0;
        segment->Life = Life;
        segment->Band = (short)Band;
        segment->RecordMax = 0; // what the head says of it is learned where that is looked at
        segment->Used = Used;
        segment->Records = Records;
        segment->Namespace = Namespace;
        segment->MinExpiryMs = MinExpiryMs;
        segment->MaxExpiryMs = MaxExpiryMs;
        segment->TimedFromMs = TimedParts == 0 ? long.MaxValue : 0; // when is learned at the first look
        segment->End = End;
        segment->SweptMs = 0;
        segment->Parts = 1;
        segment->Next = 0;
    }
}
