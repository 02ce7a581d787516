using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>Groups of consumers: XGROUP, XREADGROUP, XACK, XNACK, XPENDING, XCLAIM and XAUTOCLAIM.</summary>
internal static unsafe class GroupCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(new CommandSpec("XGROUP", -2, CommandFlags.None) { Group = "stream",
            Summary = "Makes, changes and removes groups of consumers.", Since = "5.0.0" });
        table.Add<XGroupCreate>();
        table.Add<XGroupSetId>();
        table.Add<XGroupDestroy>();
        table.Add<XGroupCreateConsumer>();
        table.Add<XGroupDelConsumer>();
        table.Add<XReadGroup>();
        table.Add<XAck>();
        table.Add<XNack>();
        table.Add<XPending>();
        table.Add<XClaim>();
        table.Add<XAutoClaim>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.AddEdit<GroupEdit>();
        table.AddEdit<GroupAck>();
        table.AddEdit<GroupRead>();
        table.AddEdit<GroupClaim>();
        table.AddEdit<GroupAutoClaim>();
        table.AddEdit<PutPending>();
        table.AddEdit<GroupRelease>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        StreamCommands.Spec(name, arity, flags, usage, syntax, summary) with { Keys = new KeySpec(2, 2, 1) { Usage = usage } };

    /// <summary>Replies that there is no such key or group.</summary>
    internal static Reply NoGroup(ref Call call, int key, int group, string where = "") =>
        call.FailBytes(NoGroupText(call.Shown(key), call.Shown(group), where));

    internal static byte[] NoGroupText(ReadOnlySpan<byte> key, ReadOnlySpan<byte> group, string where) =>
        [.. "NOGROUP No such key '"u8, .. key, .. "' or consumer group '"u8, .. group, .. "'"u8, .. Encoding.ASCII.GetBytes(where)];

    /// <summary>Replies that a stream has no such group.</summary>
    internal static Reply NoGroupOf(ref Call call, int key, int group) =>
        call.FailBytes([.. "NOGROUP No such consumer group '"u8, .. call.Shown(group), .. "' for key name '"u8, .. call.Shown(key),
            .. "'"u8]);

    /// <summary>Runs an edit of a group; the key stands behind the subcommand.</summary>
    internal static Outcome Edit(ref Call call, ref GroupEdit edit)
    {
        while (true)
        {
            KeyRef key = call.KeyAt(2);
            Outcome outcome = call.Session.Edit(in key, ref edit);
            if (outcome != Outcome.NotFound || key.Namespace == call.Namespace)
                return outcome;
        }
    }

    /// <summary>Looks what stands in the way of a change of a group; <see cref="Reply.Sent"/> if nothing does.</summary>
    internal static Reply Refusal(ref Call call, in GroupEdit edit, Outcome outcome)
    {
        if (edit.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!edit.Existed && !edit.MakesStream)
            return call.FailBytes("ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "u8 +
                "MKSTREAM option to create an empty stream automatically."u8);
        return outcome is Outcome.OutOfMemory or Outcome.TooLarge ? call.From(outcome) : Reply.Sent;
    }

    /// <summary>Replies the number that a change of a group came to.</summary>
    internal static Reply Number(ref Call call, GroupAction action)
    {
        bool onConsumer = action != GroupAction.Destroy;
        var edit = new GroupEdit { Action = action, Names = new Operands(call.Args + 3, onConsumer ? 2 : 1), NowMs = call.NowMs };
        Outcome outcome = Edit(ref call, ref edit);
        if (Refusal(ref call, edit, outcome) != Reply.Sent)
            return Reply.Failed;
        return onConsumer && !edit.GroupExisted ? NoGroupOf(ref call, 2, 3) : call.Int(edit.Result);
    }

    /// <summary>Looks whether stream and group are there; <see cref="Reply.Sent"/> if so.</summary>
    internal static Reply Look(ref Call call, int group, string where = "")
    {
        KeyRef key = call.Key;
        var look = new GroupLook { Name = new Operands(call.Args + group, 1) };
        call.Session.Examine(in key, ref look, quiet: true);
        if (look.WrongKind)
            return call.Fail(Fault.WrongType);
        return look.Found ? Reply.Sent : NoGroup(ref call, 1, group, where);
    }
}

internal readonly struct XAck : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XACK", -4, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key group id [id ...]", "Ends that entries are pending for a group and returns how many were.") with { Misses = KeyMisses.First };

    public static unsafe Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var look = new GroupLook { Name = new Operands(call.Args + 2, 1) };
        call.Session.Examine(in key, ref look, quiet: true);
        if (look.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!look.Found)
            return call.Int(0);
        if (!StreamCommands.AreIds(ref call, 3, call.Count - 3))
            return Reply.Failed;
        var ack = new GroupAck
        {
            Entries = new GroupIds { Name = new Operands(call.Args + 2, 1), Ids = new StreamIds(call.Args + 3, call.Count - 3) },
        };
        CollectionCalls.Edit(ref call, ref ack);
        return ack.WrongKind ? call.Fail(Fault.WrongType) : call.Int(ack.Acknowledged);
    }
}

internal readonly struct XPending : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XPENDING", -3, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key group [[IDLE min-idle-time] start end count [consumer]]", "Tells what is pending for a group.") with { Misses = KeyMisses.AllAtOnce, Tips = "nondeterministic_output" };

    public static unsafe Reply Run(ref Call call)
    {
        if (call.Count == 3)
            return Summary(ref call);
        if (call.Count is < 6 or > 9)
            return call.Fail(Fault.Syntax);
        int at = 3;
        var look = new PendingRangeLook { To = call.Out, NowMs = call.NowMs };
        if (call.Is(3, "IDLE"u8))
        {
            if (!call.TryInt64(4, out look.MinIdleMs))
                return call.Fail(Fault.NotAnInteger);
            if (call.Count < 8)
                return call.Fail(Fault.Syntax);
            at = 5;
        }

        if (!call.TryInt64(at + 2, out look.Count))
            return call.Fail(Fault.NotAnInteger);
        if (!StreamCommands.TryRange(ref call, at, at + 1, out look.From, out look.UpTo))
            return Reply.Failed;
        look.Count = Math.Clamp(look.Count, 0, int.MaxValue);
        bool hasConsumer = at + 3 < call.Count;
        Garnet.Common.Resp.Arg* names = stackalloc Garnet.Common.Resp.Arg[2];
        names[0] = call.Args[2];
        if (hasConsumer)
            names[1] = call.Args[at + 3];
        look.Names = new Operands(names, hasConsumer ? 2 : 1);
        bool isThere = CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound;
        return isThere && !look.NoGroup ? CollectionCalls.Done(ref call, look.WrongKind) : GroupCommands.NoGroup(ref call, 1, 2);
    }

    private static unsafe Reply Summary(ref Call call)
    {
        var look = new PendingSummaryLook { Name = new Operands(call.Args + 2, 1), To = call.Out };
        bool isThere = CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound;
        return isThere && !look.NoGroup ? CollectionCalls.Done(ref call, look.WrongKind) : GroupCommands.NoGroup(ref call, 1, 2);
    }
}
