using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>Replies the entries between two ids.</summary>
internal struct StreamRangeLook : IExamine
{
    internal RespWriter To;
    internal StreamId From;
    internal StreamId UpTo;
    internal bool Backwards;
    internal long Max;

    internal bool WrongKind;

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
    internal static void WriteRest(ref RecordEdit record, RespWriter to, ref StreamWalk walk, long count)
    {
        to.Array((int)count);
        for (long i = 0; i < count && walk.Next(ref record); i++)
            walk.Current.Reply(walk.Page, to);
    }
}

internal readonly struct XRange : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XRANGE", -4, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key start end [COUNT count]", "Returns the entries between two ids.");

    public static Reply Run(ref Call call) => Range(ref call, backwards: false);

    internal static Reply Range(ref Call call, bool backwards)
    {
        int from = backwards ? 3 : 2;
        if (!StreamCommands.TryRange(ref call, from, 5 - from, out StreamId first, out StreamId last))
            return Reply.Failed;
        long count = long.MaxValue;
        for (int i = 4; i < call.Count; i += 2)
        {
            if (i + 1 >= call.Count || !call.Is(i, "COUNT"u8))
                return call.Fail(Fault.Syntax);
            if (!call.TryInt64(i + 1, out count))
                return call.Fail(Fault.NotAnInteger);
            count = Math.Max(count, 0);
        }

        var look = new StreamRangeLook { To = call.Out, From = first, UpTo = last, Backwards = backwards, Max = Math.Min(count, int.MaxValue) };
        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        call.Out.Array(0);
        return Reply.Sent;
    }
}

internal readonly struct XRevRange : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XREVRANGE", -4, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key end start [COUNT count]", "Returns the entries between two ids, the last one first.");

    public static Reply Run(ref Call call) => XRange.Range(ref call, backwards: true);
}
