using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// A segment of a tier as a snapshot names it, 64 bytes (website/docs/format/snapshot.md). Little endian, as all of it.
/// </summary>
[StructLayout(LayoutKind.Sequential, Size = Bytes)]
internal unsafe struct SegmentRow
{
    public const int Bytes = 64;
    public const uint NamespacesMax = 1 << 24;

    public ulong Life;
    public long MinExpiryMs, MaxExpiryMs;
    public uint Number;
    public int Band, Used, Records;
    public uint Namespace;
    public int Database;
    /// <summary>Records of it that the snapshot refers to.</summary>
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

    /// <summary>False if it says what cannot be of a tier with segments of that size.</summary>
    public readonly bool IsPossible(int segmentBytes)
    {
        int bands = System.Numerics.BitOperations.Log2((uint)(segmentBytes / ColdSegments.PageBytes)) + 1;
        bool hasPlace = Life != 0 && End != 0 && Number is > 0 and <= uint.MaxValue >> 1 && (uint)Band < (uint)bands;
        bool hasRecords = Used >= ColdHead.Bytes && Used <= segmentBytes && Records > 0 && Records <= Used / ColdAddress.UnitBytes
            && Named > 0 && Named <= Records;
        return hasPlace && hasRecords && Namespace < NamespacesMax && (uint)Database < NamespaceTable.DatabasesMax
            && MinExpiryMs >= 0 && MaxExpiryMs >= 0 && TimedParts is 0 or 1;
    }

    /// <summary>Makes the descriptor one of a sealed segment.</summary>
    public readonly void CopyTo(ColdSegment* segment)
    {
        segment->State = ColdState.Sealed;
        segment->Life = Life;
        segment->Band = Band;
        segment->Used = Used;
        segment->Records = Records;
        segment->Namespace = Namespace;
        segment->MinExpiryMs = MinExpiryMs;
        segment->MaxExpiryMs = MaxExpiryMs;
        segment->TimedFromMs = TimedParts == 0 ? long.MaxValue : 0; // when is learned at the first look
        segment->End = End;
        segment->SweptMs = 0;
    }
}
