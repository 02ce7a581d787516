using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Replies a stream's name and its entries behind an id, if there are any.</summary>
public struct ReadBehindLook : IExamine
{
    public RespWriter To;
    public Arg Name;
    public StreamId After;
    public long Max;

    public bool Found;

    public void Look(ref RecordEdit record)
    {
        if (record.Kind != RecordKind.Stream || After == StreamId.Max)
            return;
        StreamWalk walk = StreamWalk.Between(ref record, After.Next, StreamId.Max), counter = walk;
        long count = counter.Count(ref record, Max);
        Found = count > 0;
        if (!Found)
            return;
        Begin(To, Name);
        StreamRangeLook.WriteRest(ref record, To, ref walk, count);
    }

    /// <summary>Begins the part of the reply that is a stream's.</summary>
    public static void Begin(RespWriter to, in Arg name)
    {
        if (!to.Resp3)
            to.Array(2);
        to.Bulk(name.Span);
    }
}
