using Garnet.Media;

namespace Tsavorite;

/// <summary>A snapshot's table of segments, judged.</summary>
/// <param name="Rows">By number.</param>
/// <param name="Runs">Which of them continue others.</param>
/// <param name="SegmentBytes">Bytes of a segment.</param>
/// <param name="Id">The tier's.</param>
/// <param name="Secret">What its records were written under.</param>
internal readonly record struct NamedTable(
    Dictionary<uint, SegmentRow> Rows, SegmentRuns Runs, int SegmentBytes, MediumId Id, TierSecret Secret)
{
    public static NamedTable Of(Dictionary<uint, SegmentRow> rows, SegmentRuns runs, ReadOnlySpan<byte> head) =>
        new(rows, runs, SegmentTable.SegmentBytesOf(head), SegmentTable.IdOf(head), SegmentTable.SecretOf(head));

    /// <summary>The row of the segment that a place of the medium lies in; there is one.</summary>
    public SegmentRow RowAt(long offset) => Rows[(uint)(offset / SegmentBytes)];

    /// <summary>Where the parts of a record lie that begins in the run's first segment.</summary>
    public ColdPart[] PartsOf(in SegmentRow first)
    {
        uint[] behind = Runs.Behind(first.Number);
        ColdPart[] parts = new ColdPart[behind.Length + 1];
        for (int i = 0; i < parts.Length; i++)
        {
            SegmentRow row = i == 0 ? first : Rows[behind[i - 1]];
            parts[i] = new ColdPart(((long)row.Number * SegmentBytes) + ColdSegments.PageBytes, row.Used - ColdSegments.PageBytes);
        }
        return parts;
    }
}
