using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Replies the entries between two ids.</summary>
public struct StreamRangeLook : IExamine
{
    public RespWriter To;
    public StreamId From;
    public StreamId UpTo;
    public bool Backwards;
    public long Max;

    public bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        if (Max == 0)
            To.NullArray();
        else if (Backwards)
            WriteBackwards(ref record);
        else
            Write(ref record);
    }

    private readonly void Write(ref RecordEdit record)
    {
        StreamWalk walk = StreamWalk.Between(ref record, From, UpTo), counter = walk;
        WriteRest(ref record, To, ref walk, counter.Count(ref record, Max));
    }

    private readonly unsafe void WriteBackwards(ref RecordEdit record)
    {
        KeptPlaces places;
        StreamWalk counter = StreamWalk.Backwards(ref record, From, UpTo, &places);
        long count = counter.Count(ref record, Max);
        StreamWalk walk = StreamWalk.Backwards(ref record, From, UpTo, &places);
        WriteRest(ref record, To, ref walk, count);
    }

    /// <summary>Replies an array of so many entries; they are there.</summary>
    public static void WriteRest(ref RecordEdit record, RespWriter to, ref StreamWalk walk, long count)
    {
        to.Array((int)count);
        for (long i = 0; i < count && walk.Next(ref record); i++)
            walk.Current.Reply(walk.Page, to);
    }
}
