namespace Tsavorite;

/// <summary>A place of the medium and the use that is made of it: the checksum of what lies there is of these too, so that what lies elsewhere, or lay there before, is not taken for it.</summary>
/// <param name="Life">Of the segment.</param>
/// <param name="Offset">On the medium.</param>
/// <param name="Secret">The tier's, or that of the table that names the segment.</param>
internal readonly record struct ColdPlace(ulong Life, long Offset, TierSecret Secret)
{
    /// <summary>The checksum of a record that lies there, whose header is at hand; nothing of it is added yet.</summary>
    public unsafe ColdSum Begin(byte* record) => new(this, record);
}
