using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

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

        var look = new StreamRangeLook
        {
            To = call.Out,
            From = first,
            UpTo = last,
            Backwards = backwards,
            Max = Math.Min(count, int.MaxValue),
        };
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
