using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Lists;

/// <summary>Commands that wait for a list to hold something: BLPOP, BRPOP, BLMPOP, BLMOVE, BRPOPLPUSH.</summary>
internal static class BlockingListCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<BLPop>();
        table.Add<BRPop>();
        table.Add<BLMPop>();
        table.Add<BLMove>();
        table.Add<BRPopLPush>();
    }

    internal static CommandSpec Pop(string name, string summary) =>
        ListCommands.Spec(name, -3, CommandFlags.Write | CommandFlags.NoScript | CommandFlags.Blocking, "",
            "key [key ...] timeout", summary) with
        {
            Since = "2.0.0", Keys = new KeySpec(1, -2, 1) { Usage = "RW ACCESS DELETE" },
        };

    internal static CommandSpec Move(string name, int arity, string syntax, string summary) =>
        ListCommands.Spec(name, arity, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.NoScript | CommandFlags.Blocking, "",
            syntax, summary) with
        {
            Complexity = "O(1)", Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE", RestUsage = "RW INSERT" },
        };

    internal static Reply PopAny(ref Call call, bool left)
    {
        if (!BlockingCalls.TryUntil(ref call, call.Count - 1, out long untilMs, out Reply failed))
            return failed;
        return BlockingCalls.Take(ref call, 1, call.Count - 2, new ListTake(left, many: false, count: 1), untilMs);
    }

    internal static unsafe Reply Shift(ref Call call, bool fromLeft, bool toLeft, long untilMs)
    {
        if (!BlockingCalls.MustQueue(ref call, 1, 1))
        {
            Reply reply = LMove.TryMove(ref call, fromLeft, toLeft, out bool exists);
            if (exists)
                return reply;
        }
        else if (!BlockingCalls.AreOfKind(ref call, 1, 1, RecordKind.List))
        {
            return Reply.Failed;
        }

        if (!call.MayPark)
            return call.Null();
        byte[] target = new byte[call.Args[2].Length + ReadyKeys.SlackBytes];
        call[2].CopyTo(target);
        var shift = new ListShift(new ListMove(fromLeft, toLeft, ListLimits.Of(call.Server.Settings.Encoding)), target);
        return BlockingCalls.Wait(ref call, new KeyWait<ListShift>(shift) { Client = call.Client }, 1, 1, untilMs);
    }
}

internal readonly struct BLPop : ICommand
{
    public static CommandSpec Spec => BlockingListCommands.Pop("BLPOP", "Removes the first element of a list and returns it; waits for one if need be.") with { Event = ListTake.EventOf(left: true) };

    public static Reply Run(ref Call call) => BlockingListCommands.PopAny(ref call, left: true);
}

internal readonly struct BRPop : ICommand
{
    public static CommandSpec Spec => BlockingListCommands.Pop("BRPOP", "Removes the last element of a list and returns it; waits for one if need be.") with { Event = ListTake.EventOf(left: false) };

    public static Reply Run(ref Call call) => BlockingListCommands.PopAny(ref call, left: false);
}

internal readonly struct BLMPop : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("BLMPOP", -5, CommandFlags.Write | CommandFlags.Blocking | CommandFlags.MovableKeys, "", "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", "Removes elements of the first list that is there and returns them; waits for one if need be.") with { Since = "7.0.0", Keys = new KeySpec(3, -1, 1) { CountArg = 2, Usage = "RW ACCESS DELETE" }, Event = new("lpop", NotifyClasses.List) { Empties = true, Word = "RIGHT", WithWord = "rpop" } };

    public static Reply Run(ref Call call)
    {
        if (!LMPop.TryParse(ref call, 2, out int keys, out ListTake take, out Reply failed))
            return failed;
        return BlockingCalls.TryUntil(ref call, 1, out long untilMs, out failed)
            ? BlockingCalls.Take(ref call, 3, keys, take, untilMs)
            : failed;
    }
}

internal readonly struct BLMove : ICommand
{
    public static CommandSpec Spec => BlockingListCommands.Move("BLMOVE", 6, "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout", "Moves an element from an end of one list to an end of another; waits for one if need be.") with { Since = "6.2.0" };

    public static Reply Run(ref Call call)
    {
        if (!ListCommands.TrySide(ref call, 3, out bool fromLeft) || !ListCommands.TrySide(ref call, 4, out bool toLeft))
            return call.Fail(Fault.Syntax);
        return BlockingCalls.TryUntil(ref call, 5, out long untilMs, out Reply failed)
            ? BlockingListCommands.Shift(ref call, fromLeft, toLeft, untilMs)
            : failed;
    }
}

internal readonly struct BRPopLPush : ICommand
{
    public static CommandSpec Spec => BlockingListCommands.Move("BRPOPLPUSH", 4, "source destination timeout", "Moves the last element of a list to the front of another; waits for one if need be.") with { Since = "2.2.0" };

    public static Reply Run(ref Call call) =>
        BlockingCalls.TryUntil(ref call, 3, out long untilMs, out Reply failed)
            ? BlockingListCommands.Shift(ref call, fromLeft: false, toLeft: true, untilMs)
            : failed;
}
