using System.Numerics;
using System.Runtime.CompilerServices;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// The first bytes of a segment on the medium: magic, version, its number, its band, its life, the tier's id, the longest record it takes, and a checksum (CRC32C) of these. By
/// it a start tells, without reading a record, whether the medium still is what a snapshot names (website/docs/format/tier.md). Behind that of a run is the checksum
/// of what its record says of itself before its value, so that who looks for what has expired need not read all of it. In segments of version 2 records of bands above 0 begin
/// at pages, which readers need not know.
/// </summary>
internal static unsafe class ColdHead
{
    public const int Bytes = 64;
    private const int Magic = 0x444C4F43, LifeAt = 16, IdAt = 24, RecordMaxAt = 40, CrcAt = 60, RunSumAt = Bytes; // "COLD"
    private const int FormatVersion = 3, FormatVersionMin = 2;

    public static void Write(byte* to, uint number, ColdSegment* segment, MediumId id)
    {
        new Span<byte>(to, Bytes).Clear();
        *(int*)to = Magic;
        *(int*)(to + 4) = FormatVersion;
        *(uint*)(to + 8) = number;
        *(int*)(to + 12) = segment->Band;
        *(ulong*)(to + LifeAt) = segment->Life;
        id.Write(new Span<byte>(to + IdAt, MediumId.Bytes));
        *(int*)(to + RecordMaxAt) = segment->RecordMax;
        *(uint*)(to + CrcAt) = Crc(to);
    }

    /// <summary>The longest record of the segment where its head, which is whole, says that it is less than the band does; else 0.</summary>
    public static int RecordMax(byte* head) => *(int*)(head + RecordMaxAt) is var bytes && ColdClass.IsRecordMax(bytes) ? bytes : 0;

    /// <summary>Behind the head of a run: the checksum of what the record, which lies at that place, says of itself.</summary>
    public static void WriteOfRun(byte* page, byte* record, in ColdPlace place) =>
        *(uint*)(page + RunSumAt) = SumOf(record, ColdRecord.HeadBytes(record), place);

    /// <summary>True if what the record of a run says of itself, of which so many bytes are there, is what was written.</summary>
    public static bool HoldsRun(byte* page, byte* record, int room, in ColdPlace place)
    {
        long bytes = ColdRecord.IsPossible(record) ? ColdRecord.HeadBytes(record) : 0;
        return bytes != 0 && bytes <= room && *(uint*)(page + RunSumAt) == SumOf(record, bytes, place);
    }

    /// <summary>What stands there instead of the head that a snapshot names.</summary>
    public static ColdHeadState Judge(byte* from, in SegmentRow row, MediumId id)
    {
        if (new ReadOnlySpan<byte>(from, Bytes).IndexOfAnyExcept((byte)0) < 0)
            return ColdHeadState.Other; // never written, or cut off and made anew
        if (*(uint*)(from + CrcAt) != Crc(from))
            return ColdHeadState.Damaged;
        bool isNamed = *(int*)from == Magic && *(int*)(from + 4) is FormatVersionMin or FormatVersion && *(uint*)(from + 8) == row.Number
            && *(int*)(from + 12) == row.Band && *(ulong*)(from + LifeAt) == row.Life
            && MediumId.Read(new(from + IdAt, MediumId.Bytes)) == id;
        return isNamed ? ColdHeadState.Named : ColdHeadState.Other;
    }

    private static uint SumOf(byte* record, long bytes, in ColdPlace place)
    {
        ColdSum sum = place.Begin(record);
        sum.Add(record, bytes);
        return sum.Value;
    }

    private static uint Crc(byte* head)
    {
        uint crc = ~0u;
        for (int at = 0; at < CrcAt; at += sizeof(uint)) crc = BitOperations.Crc32C(crc, *(uint*)(head + at));
        return ~crc;
    }
}
