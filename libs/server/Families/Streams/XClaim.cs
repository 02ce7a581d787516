using System.Text;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

internal readonly struct XClaim : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XCLAIM", -6, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]", "Gives pending entries to a consumer, as if they had been delivered to it.") with { Tips = "nondeterministic_output" };

    public static unsafe Reply Run(ref Call call)
    {
        if (GroupCommands.Look(ref call, 2) != Reply.Sent)
            return Reply.Failed;
        var claim = new GroupClaim
        {
            Names = new Operands(call.Args + 2, 2),
            To = call.Out,
            Terms = new ClaimTerms { NowMs = call.NowMs, DeliveredMs = -1, Deliveries = -1 },
        };
        if (!TryIdle(ref call, "XCLAIM", out claim.Terms.MinIdleMs))
            return Reply.Failed;
        int end = 5;
        while (end < call.Count && StreamId.TryParse(call[end], 0, out _))
            end++;
        if (!TryOptions(ref call, end, ref claim.Terms))
            return Reply.Failed;
        claim.Ids = new StreamIds(call.Args + 5, end - 5);
        if (claim.Terms.DeliveredMs < 0 || claim.Terms.DeliveredMs > call.NowMs)
            claim.Terms.DeliveredMs = call.NowMs;
        Outcome outcome = CollectionCalls.Edit(ref call, ref claim);
        return Answer(ref call, outcome, claim.Start);
    }

    /// <summary>Reads the time that entries must have been left alone; on false the error has been written.</summary>
    internal static bool TryIdle(ref Call call, string command, out long idleMs)
    {
        bool isNumber = call.TryInt64(4, out idleMs);
        idleMs = Math.Max(idleMs, 0);
        return isNumber || StreamCommands.Fail(ref call, Encoding.ASCII.GetBytes($"ERR Invalid min-idle-time argument for {command}"));
    }

    /// <summary>Ends the command, whose reply has been written where group and memory were found.</summary>
    internal static Reply Answer(ref Call call, Outcome outcome, in ClaimStart start)
    {
        if (!start.Found)
            return GroupCommands.NoGroup(ref call, 1, 2);
        if (outcome == Outcome.Done)
            Telling.Tell(ref call, start.IsNewConsumer ? StreamEvents.ConsumerMade : null);
        return Reply.Sent;
    }

    private static bool TryOptions(ref Call call, int first, ref ClaimTerms terms)
    {
        for (int i = first; i < call.Count; i++)
        {
            bool hasMore = i + 1 < call.Count;
            if (call.Is(i, "FORCE"u8))
            {
                terms.Forces = true;
            }
            else if (call.Is(i, "JUSTID"u8))
            {
                terms.OnlyIds = true;
            }
            else if (call.Is(i, "IDLE"u8) && hasMore)
            {
                if (!call.TryInt64(++i, out long idle))
                    return StreamCommands.Fail(ref call, "ERR Invalid IDLE option argument for XCLAIM"u8);
                terms.DeliveredMs = call.NowMs - idle;
            }
            else if (call.Is(i, "TIME"u8) && hasMore)
            {
                if (!call.TryInt64(++i, out terms.DeliveredMs))
                    return StreamCommands.Fail(ref call, "ERR Invalid TIME option argument for XCLAIM"u8);
            }
            else if (call.Is(i, "RETRYCOUNT"u8) && hasMore)
            {
                if (!call.TryInt64(++i, out terms.Deliveries))
                    return StreamCommands.Fail(ref call, "ERR Invalid RETRYCOUNT option argument for XCLAIM"u8);
            }
            else if (call.Is(i, "LASTID"u8) && hasMore)
            {
                if (!StreamCommands.TryId(ref call, ++i, 0, out terms.Last))
                    return false;
            }
            else
            {
                return StreamCommands.Fail(ref call, (byte[])[.. "ERR Unrecognized XCLAIM option '"u8, .. call.Shown(i), .. "'"u8]);
            }
        }

        return true;
    }
}

internal readonly struct XAutoClaim : ICommand
{
    private const long CountDefault = 100, CountMax = long.MaxValue / 160;

    public static CommandSpec Spec => StreamCommands.Spec("XAUTOCLAIM", -6, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key group consumer min-idle-time start [COUNT count] [JUSTID]", "Gives pending entries, from an id on, to a consumer.") with { Since = "6.2.0", Complexity = "O(1)", Tips = "nondeterministic_output" };

    public static unsafe Reply Run(ref Call call)
    {
        var claim = new GroupAutoClaim
        {
            Names = new Operands(call.Args + 2, 2),
            Count = CountDefault,
            Terms = new ClaimTerms { NowMs = call.NowMs, DeliveredMs = call.NowMs, Deliveries = -1 },
        };
        if (!XClaim.TryIdle(ref call, "XAUTOCLAIM", out claim.Terms.MinIdleMs) || !TryStart(ref call, out claim.From))
            return Reply.Failed;
        for (int i = 6; i < call.Count; i++)
        {
            if (i + 1 < call.Count && call.Is(i, "COUNT"u8))
            {
                if (!call.TryInt64(++i, out claim.Count) || claim.Count is < 1 or > CountMax)
                    return call.Fail(Fault.CountNotPositive);
            }
            else if (call.Is(i, "JUSTID"u8))
            {
                claim.Terms.OnlyIds = true;
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        if (GroupCommands.Look(ref call, 2) != Reply.Sent)
            return Reply.Failed;
        claim.To = call.Out;
        Outcome outcome = CollectionCalls.Edit(ref call, ref claim);
        return XClaim.Answer(ref call, outcome, claim.Start);
    }

    private static bool TryStart(ref Call call, out StreamId start)
    {
        if (!StreamId.TryParseBound(call[5], 0, out start, out bool isExclusive))
            return StreamCommands.FailId(ref call);
        if (isExclusive && start == StreamId.Max)
            return StreamCommands.FailStart(ref call);
        if (isExclusive)
            start = start.Next;
        return true;
    }
}
