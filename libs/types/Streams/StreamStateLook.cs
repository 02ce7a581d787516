using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>What a stream says of itself.</summary>
public unsafe struct StreamStateLook : IExamine
{
    public bool WrongKind;
    public long Length;
    /// <summary>The greatest id ever.</summary>
    public StreamId Last;
    /// <summary>The greatest id that is there.</summary>
    public StreamId LastEntry;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        StreamHeader* root = StreamForm.Header(ref record);
        Length = root->Length;
        Last = root->Last;
        if (Length == 0)
            return;
        StreamPage page = StreamForm.PageAt(ref record, root->Pages - 1);
        LastEntry = page.Last;
        if (page.Live == page.Slots)
            return;
        LastEntry = LastThere(ref record);
    }

    private static StreamId LastThere(ref RecordEdit record)
    {
        KeptPlaces places;
        StreamWalk walk = StreamWalk.Backwards(ref record, StreamId.Min, StreamId.Max, &places);
        walk.Next(ref record);
        return walk.Current.Id;
    }
}
