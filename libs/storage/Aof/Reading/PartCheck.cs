using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>Whether the body of a part whose checksums hold says what a body can say.</summary>
internal static class PartCheck
{
    /// <summary>What is wrong with header and lane table; null = nothing.</summary>
    public static string? TableFault(in BatchHeader header, ReadOnlySpan<byte> body)
    {
        long bytes = (long)header.Lanes * LaneRow.Bytes, entries = 0;
        if (header.Kind is not (BatchKind.Data or BatchKind.Control or BatchKind.Ordered))
            return $"batches of kind {(byte)header.Kind} are not known";
        if (bytes > header.BodyBytes)
            return "the lane table does not fit into the batch";
        for (int i = 0; i < header.Lanes; i++)
        {
            LaneRow row = LaneRow.Read(body.Slice(i * LaneRow.Bytes, LaneRow.Bytes));
            bytes += row.EntryBytes;
            entries += row.Entries;
        }
        if (bytes != header.BodyBytes || entries != header.Entries)
            return "the lane table does not add up to the batch";
        bool single = header is { Lanes: 1, Entries: 1, Part: 0 } or { Lanes: 0, Part: not 0 };
        if (header.Kind == BatchKind.Control && !single)
            return "a control batch holds other than one entry";
        bool oneLane = header is { Lanes: 1, Part: 0 } or { Lanes: 0, Part: not 0 };
        return header.Kind == BatchKind.Ordered && !oneLane ? "an ordered batch holds other than one lane" : null;
    }
}
