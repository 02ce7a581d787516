using System.Numerics;

namespace Tsavorite;

/// <summary>
/// Size class of a record on the tier: up to 512 bytes, 1, 2 and 4 KiB, then powers of two of pages. A segment has records of one class. Those of up to 512 bytes share pages, and none crosses the end of one: a page is read for each, and what page ends lose is
/// little. Of longer ones it would be much, a half of the room for those of little more than 2 KiB, so that they follow each other wherever they end; since they are kept apart by powers of two,
/// one page more is read for them at the most, and for most none. Their segments are of band 1, which says that to those who do not know of classes; the longest record stands in the head.
/// </summary>
/// <param name="Number">Which it is, from 0.</param>
/// <param name="Band">The band of its segments (<see cref="ColdSegment.Band"/>).</param>
/// <param name="RecordMax">The longest record of it where that is less than the band says; else 0.</param>
internal readonly record struct ColdClass(int Number, int Band, int RecordMax)
{
    /// <summary>Longest record that shares pages; longest of the classes that are less than their band.</summary>
    public const int SharedMax = 512, RecordMaxLeast = 2 * SharedMax, RecordMaxMost = ColdSegments.PageBytes;

    private static readonly int ClassesBesideBands = BitOperations.Log2(RecordMaxMost / SharedMax);

    /// <summary>How many there are where there are so many bands.</summary>
    public static int CountOf(int bands) => bands + ClassesBesideBands;

    /// <summary>The class of records of that length.</summary>
    public static ColdClass Of(int bytes)
    {
        if (bytes <= SharedMax)
            return default;
        if (bytes > RecordMaxMost)
        {
            int band = BitOperations.Log2((uint)(bytes - 1) / ColdSegments.PageBytes) + 1;
            return new ColdClass(band + ClassesBesideBands, band, 0);
        }
        int recordMax = (int)BitOperations.RoundUpToPowerOf2((uint)bytes);
        return new ColdClass(BitOperations.Log2((uint)(recordMax / SharedMax)), 1, recordMax);
    }

    /// <summary>True if it is the longest record of a class, or 0.</summary>
    public static bool IsRecordMax(int bytes) =>
        bytes == 0 || (bytes is >= RecordMaxLeast and <= RecordMaxMost && BitOperations.IsPow2(bytes));
}
