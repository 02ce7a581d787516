using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>Reads several streams from ids on.</summary>
internal readonly struct XRead : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XREAD", -4, CommandFlags.ReadOnly | CommandFlags.Blocking | CommandFlags.MovableKeys, "", "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]", "Returns the entries of streams behind ids; waits for some if need be.") with { Keys = KeySpec.BehindStreams(1) with { Usage = "RO ACCESS" } };

    public static Reply Run(ref Call call)
    {
        if (!ReadRequest.TryRead(ref call, isGroup: false, out ReadRequest request))
            return Reply.Failed;
        var keys = new KeyRef[request.Keys];
        var after = new StreamId[request.Keys];
        for (int i = 0; i < request.Keys; i++)
            keys[i] = call.KeyAt(request.FirstKey + i);
        call.Session.Lock(keys);
        Reply reply = RunLocked(ref call, request, keys, after);
        call.Session.Unlock();
        if (reply != Reply.Postponed)
            return reply;
        if (request.BlockMs >= 0 && call.MayPark)
        {
            var wait = new XReadWait(ref call, request, after) { Client = call.Client };
            return BlockingCalls.Wait(ref call, wait, request.FirstKey, request.Keys, call.UntilMs(request.BlockMs));
        }

        call.Out.NullArray();
        return Reply.Sent;
    }

    // Postponed: nothing is there.
    private static unsafe Reply RunLocked(ref Call call, in ReadRequest request, KeyRef[] keys, StreamId[] after)
    {
        int found = 0;
        for (int i = 0; i < keys.Length; i++)
        {
            var look = new StreamStateLook();
            bool exists = call.Session.Examine(in keys[i], ref look) == Outcome.Done;
            if (exists && look.WrongKind)
                return call.Fail(Fault.WrongType);
            if (!TryAfter(ref call, request.FirstKey + request.Keys + i, look, out after[i]))
                return Reply.Failed;
            if (look.Length > 0 && look.LastEntry > after[i])
                found++;
        }

        if (found == 0)
            return Reply.Postponed;
        if (call.Out.Resp3)
            call.Out.Map(found);
        else
            call.Out.Array(found);
        for (int i = 0; i < keys.Length; i++)
        {
            var read = new ReadBehindLook { To = call.Out, Name = call.Args[request.FirstKey + i], After = after[i], Max = request.Max };
            call.Session.Examine(in keys[i], ref read, quiet: true);
        }

        return Reply.Sent;
    }

    // + is the id before the last entry that is there, $ the last id ever.
    private static bool TryAfter(ref Call call, int index, in StreamStateLook look, out StreamId after)
    {
        ReadOnlySpan<byte> text = call[index];
        after = look.Last;
        if (text.SequenceEqual("$"u8))
            return true;
        if (text.SequenceEqual("+"u8))
        {
            after = look.Length > 0 ? look.LastEntry.Previous : look.Last;
            return true;
        }

        if (text.SequenceEqual(">"u8))
            return StreamCommands.Fail(ref call,
                "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."u8);
        return StreamCommands.TryId(ref call, index, 0, out after);
    }
}
