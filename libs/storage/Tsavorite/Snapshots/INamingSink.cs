namespace Tsavorite;

/// <summary>
/// A sink that keeps what names records on a tier instead of the records: for a snapshot that is loaded where the tier is
/// (<see cref="SnapshotOptions.NamesSegments"/>). What it takes is read back by <see cref="NamedSegments"/>.
/// </summary>
public interface INamingSink : ISnapshotSink
{
    /// <summary>Takes references to records on the tier, as blocks go otherwise.</summary>
    void WriteReferences(ReadOnlySpan<byte> block, int references);

    /// <summary>Takes a part of the table of segments that references are of.</summary>
    void WriteSegments(ReadOnlySpan<byte> block, int segments);
}
