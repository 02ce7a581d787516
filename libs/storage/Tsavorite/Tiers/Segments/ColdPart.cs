namespace Tsavorite;

/// <summary>What one segment of a run has of its record.</summary>
/// <param name="Offset">Where it begins on the medium: at a page.</param>
/// <param name="Bytes">Its length; what follows to the end of the last page is nothing.</param>
internal readonly record struct ColdPart(long Offset, int Bytes)
{
    /// <summary>Bytes that are read for it.</summary>
    public int ReadBytes => (Bytes + ColdSegments.PageBytes - 1) & ~(ColdSegments.PageBytes - 1);
}
