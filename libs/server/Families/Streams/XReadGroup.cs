using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Server.Families.Blocking;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>Reads several streams as a consumer of a group.</summary>
internal readonly struct XReadGroup : ICommand
{
    internal const string Where = " in XREADGROUP with GROUP option";

    public static CommandSpec Spec => StreamCommands.Spec("XREADGROUP", -7, CommandFlags.Write | CommandFlags.Blocking | CommandFlags.MovableKeys, "", "GROUP group consumer [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] STREAMS key [key ...] id [id ...]", "Returns entries that nobody of a group has had, or what is pending for a consumer; waits for some if need be.") with { Keys = KeySpec.BehindStreams(4) with { Usage = "RO ACCESS" } };

    public static Reply Run(ref Call call)
    {
        if (!ReadRequest.TryRead(ref call, isGroup: true, out ReadRequest request))
            return Reply.Failed;
        KeyRef[] rented = ManyCommands.Rent(ref call, request.FirstKey, 1, request.Keys);
        Span<KeyRef> keys = rented.AsSpan(0, request.Keys);
        call.Session.Lock(keys);
        Reply reply = RunLocked(ref call, request, keys, out long nextMs);
        call.Session.Unlock();
        ManyCommands.Return(rented);
        if (reply != Reply.Postponed)
            return reply;
        if (request.BlockMs >= 0 && call.MayPark)
        {
            var wait = new XReadGroupWait(ref call, request) { Client = call.Client };
            long untilMs = wait.Until(call.UntilMs(request.BlockMs), nextMs, call.NowMs);
            return BlockingCalls.Wait(ref call, wait, request.FirstKey, request.Keys, untilMs);
        }

        call.Out.NullArray();
        return Reply.Sent;
    }

    // Postponed: nothing is there before that time.
    private static unsafe Reply RunLocked(ref Call call, in ReadRequest request, scoped ReadOnlySpan<KeyRef> keys, out long nextMs)
    {
        var name = new Operands(call.Args + request.GroupAt, 1);
        int found = 0;
        nextMs = long.MaxValue;
        for (int i = 0; i < keys.Length; i++)
        {
            var look = new GroupLook { Name = name, ClaimMs = request.ClaimMs, NowMs = call.NowMs };
            call.Session.Examine(in keys[i], ref look);
            nextMs = Math.Min(nextMs, look.NextMs);
            if (look.WrongKind)
                return call.Fail(Fault.WrongType);
            if (!look.Found)
                return GroupCommands.NoGroup(ref call, request.FirstKey + i, request.GroupAt, Where);
            if (!TryAfter(ref call, request.FirstKey + keys.Length + i, out _, out bool isHistory))
                return Reply.Failed;
            found += isHistory || look.HasMore ? 1 : 0;
        }

        long before = call.Out.Mark;
        if (found > 0 && call.Out.Resp3)
            call.Out.Map(found);
        else if (found > 0)
            call.Out.Array(found);
        int told = 0, untold = 0;
        for (int i = 0; i < keys.Length; i++)
        {
            long mark = call.Out.Mark;
            Outcome outcome = Read(ref call, request, keys[i], i);
            if (outcome is Outcome.OutOfMemory or Outcome.TooLarge)
            {
                call.Out.TakeBackTo(before);
                return call.From(outcome);
            }

            (told, untold) = call.Out.Mark > mark ? (told + 1, untold) : (told, i);
        }

        // A stream that is named twice: the first read took what the look before had seen for the second, too. The reply has as many parts as it says.
        for (; told < found; told++)
            Nothing(ref call, request.FirstKey + untold);
        return found > 0 ? Reply.Sent : Reply.Postponed;
    }

    private static void Nothing(ref Call call, int key)
    {
        if (!call.Out.Resp3)
            call.Out.Array(2);
        call.Out.Bulk(call[key]);
        call.Out.Array(0);
    }

    private static unsafe Outcome Read(ref Call call, in ReadRequest request, in KeyRef key, int index)
    {
        var read = new GroupRead
        {
            Names = new Operands(call.Args + request.GroupAt, 2), NowMs = call.NowMs, Count = request.Max, NoAck = request.NoAck,
            Claims = DueClaims.Of(request.ClaimMs), To = call.Out, Key = call.Args[request.FirstKey + index],
        };
        TryAfter(ref call, request.FirstKey + request.Keys + index, out read.After, out read.IsHistory);
        Outcome outcome = call.Session.Edit(in key, ref read);
        if (outcome == Outcome.Done)
            Telling.Tell(ref call, read.IsNewConsumer ? StreamEvents.ConsumerMade : null);
        // some were delivered, and are replied
        return (outcome is Outcome.OutOfMemory or Outcome.TooLarge) && read.Given > 0 ? Outcome.Done : outcome;
    }

    private static bool TryAfter(ref Call call, int index, out StreamId after, out bool isHistory)
    {
        ReadOnlySpan<byte> text = call[index];
        after = StreamId.Max;
        isHistory = false;
        if (text.SequenceEqual(">"u8))
            return true;
        if (text.SequenceEqual("$"u8))
            return StreamCommands.Fail(ref call,
                "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying "u8 +
                "a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."u8);
        if (text.SequenceEqual("+"u8))
            return StreamCommands.Fail(ref call,
                "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying "u8 +
                "a proper ID, or use the > ID to get new messages. The + ID would just return an empty result set."u8);
        if (!StreamCommands.TryId(ref call, index, 0, out after))
            return false;
        isHistory = after != StreamId.Max;
        return true;
    }
}
