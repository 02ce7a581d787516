using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// Records in persistent memory are read where they lie. They are judged as what a device brings is (store.C4), once for each time that they are placed, after the word
/// was looked at with the segment pinned (store.C3): before, another may be written there.
/// </summary>
internal static unsafe class PlacedReads
{
    /// <summary>True if it can be read where it lies. What lies in several segments is nowhere whole: it is read as from a disk.</summary>
    public static bool IsInMemory(ColdLayers segments, ColdRead read) => !read.IsLong && segments.IsInMemory(segments.NumberOf(read.Word));

    /// <summary>Makes it readable in place, or failed.</summary>
    public static void Place(ColdTier tier, ColdRead read)
    {
        ColdLayers segments = tier.Segments;
        long offset = ColdAddress.Offset(read.Word), end = segments.OffsetOf(segments.NumberOf(read.Word)) + segments.SegmentBytes;
        int room = (int)Math.Min(read.BytesMax, end - offset);
        byte* image = tier.Medium.InPlace(offset, room);
        bool isWhole = image != null && read.IsRecord(image, room, out _);
        tier.CountPlaced();
        read.IsInPlace = true;
        read.Record = isWhole ? image : null;
        read.State = isWhole ? ColdReadState.Ready : ColdReadState.Failed;
        read.Error = image == null ? Libc.EIO : 0;
        if (!isWhole)
            tier.CountFailure(read, read.Error);
    }
}
