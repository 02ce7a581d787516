using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

internal readonly struct XGroupCreate : ICommand
{
    public static CommandSpec Spec => GroupCommands.Spec("XGROUP|CREATE", -5, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, "RW INSERT", "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]", "Makes a group of consumers.") with { Complexity = "O(1)", Event = new("xgroup-create", NotifyClasses.Stream) };

    public static Reply Run(ref Call call)
    {
        if (!TryOptions(ref call, GroupAction.Create, out GroupEdit edit, out Reply failed))
            return failed;
        Outcome outcome = GroupCommands.Edit(ref call, ref edit);
        if (GroupCommands.Refusal(ref call, edit, outcome) != Reply.Sent)
            return Reply.Failed;
        return edit.GroupExisted ? call.FailBytes("BUSYGROUP Consumer Group name already exists"u8) : call.Ok();
    }

    /// <summary>Reads id and options; on false something has been replied. Key and group are looked for before the id.</summary>
    internal static unsafe bool TryOptions(ref Call call, GroupAction action, out GroupEdit edit, out Reply failed)
    {
        edit = new GroupEdit { Action = action, Names = new Operands(call.Args + 3, 1), Read = GroupState.Unknown, NowMs = call.NowMs };
        failed = Reply.Failed;
        for (int i = 5; i < call.Count; i++)
        {
            if (action == GroupAction.Create && call.Is(i, "MKSTREAM"u8))
            {
                edit.MakesStream = true;
            }
            else if (call.Is(i, "ENTRIESREAD"u8) && i + 1 < call.Count)
            {
                if (!call.TryInt64(++i, out edit.Read))
                    failed = call.Fail(Fault.NotAnInteger);
                else if (edit.Read < GroupState.Unknown)
                    failed = call.FailBytes("ERR value for ENTRIESREAD must be positive or -1"u8);
                else
                    continue;
                return false;
            }
            else
            {
                failed = call.WrongSubcommandArity();
                return false;
            }
        }

        if (!IsThere(ref call, edit))
            return false;
        edit.AtEnd = call[4].SequenceEqual("$"u8);
        if (edit.AtEnd)
            return true;
        return action == GroupAction.SetId
            ? StreamCommands.TryAnyId(ref call, 4, out edit.Id)
            : StreamCommands.TryId(ref call, 4, 0, out edit.Id);
    }

    private static bool IsThere(ref Call call, in GroupEdit edit)
    {
        KeyRef key = call.KeyAt(2);
        var look = new GroupLook { Name = edit.Names };
        bool existed = call.Session.Examine(in key, ref look, quiet: true) == Outcome.Done;
        GroupEdit seen = edit with { Existed = existed, WrongKind = look.WrongKind };
        if (GroupCommands.Refusal(ref call, seen, Outcome.Done) != Reply.Sent)
            return false;
        if (edit.Action == GroupAction.Create || look.Found)
            return true;
        GroupCommands.NoGroupOf(ref call, 2, 3);
        return false;
    }
}

internal readonly struct XGroupSetId : ICommand
{
    public static CommandSpec Spec => GroupCommands.Spec("XGROUP|SETID", -5, CommandFlags.Write | CommandFlags.Quick, "RW UPDATE", "key group <id | $> [ENTRIESREAD entries-read]", "Sets the last entry that a group was given.") with { Complexity = "O(1)", Event = new("xgroup-setid", NotifyClasses.Stream) };

    public static Reply Run(ref Call call)
    {
        if (!XGroupCreate.TryOptions(ref call, GroupAction.SetId, out GroupEdit edit, out Reply failed))
            return failed;
        Outcome outcome = GroupCommands.Edit(ref call, ref edit);
        if (GroupCommands.Refusal(ref call, edit, outcome) != Reply.Sent)
            return Reply.Failed;
        return edit.GroupExisted ? call.Ok() : GroupCommands.NoGroupOf(ref call, 2, 3);
    }
}

internal readonly struct XGroupDestroy : ICommand
{
    public static CommandSpec Spec => GroupCommands.Spec("XGROUP|DESTROY", 4, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key group", "Removes a group of consumers.") with { Event = new("xgroup-destroy", NotifyClasses.Stream) };

    public static Reply Run(ref Call call) => GroupCommands.Number(ref call, GroupAction.Destroy);
}

internal readonly struct XGroupCreateConsumer : ICommand
{
    public static CommandSpec Spec => GroupCommands.Spec("XGROUP|CREATECONSUMER", 5, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, "RW INSERT", "key group consumer", "Makes a consumer of a group.") with { Since = "6.2.0", Complexity = "O(1)", Event = StreamEvents.ConsumerMade };

    public static Reply Run(ref Call call) => GroupCommands.Number(ref call, GroupAction.AddConsumer);
}

internal readonly struct XGroupDelConsumer : ICommand
{
    public static CommandSpec Spec => GroupCommands.Spec("XGROUP|DELCONSUMER", 5, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key group consumer", "Removes a consumer and returns how much was pending for it.") with { Event = new("xgroup-delconsumer", NotifyClasses.Stream) };

    public static Reply Run(ref Call call) => GroupCommands.Number(ref call, GroupAction.RemoveConsumer);
}
