using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Lists;

/// <summary>Lists: LPUSH, LPOP, LRANGE and their relatives.</summary>
internal static unsafe class ListCommands
{
    internal const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;
    internal const CommandFlags WriteSlow = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick;

    internal static void Register(CommandTable table)
    {
        table.Add<LPush>();
        table.Add<RPush>();
        table.Add<LPushX>();
        table.Add<RPushX>();
        table.Add<LPop>();
        table.Add<RPop>();
        table.Add<LLen>();
        table.Add<LIndex>();
        table.Add<LRange>();
        table.Add<LSet>();
        table.Add<LInsert>();
        table.Add<LRem>();
        table.Add<LTrim>();
        table.Add<LPos>();
        table.Add<LMove>();
        table.Add<RPopLPush>();
        table.Add<LMPop>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.AddEdit<ListPush>();
        table.AddEdit<ListPop>();
        table.AddEdit<ListPlace>();
        table.AddEdit<ListTrim>();
        table.AddEdit<ListRemove>();
        table.AddParts<ListPiece>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage })
            { Group = "list", Syntax = syntax, Summary = summary, Complexity = "O(N)" };

    internal static Reply Push(ref Call call, bool left, bool onlyIfThere)
    {
        if (CollectionCalls.ChangesNothing(ref call, EntryCost.OfLists, onlyIfThere, out Reply nothing))
            return nothing;
        var push = new ListPush
        {
            Values = new Operands(call.Args + 2, call.Count - 2),
            Left = left,
            OnlyIfThere = onlyIfThere,
            Limits = ListLimits.Of(call.Server.Settings.Encoding),
        };
        Outcome outcome = CollectionCalls.EditWhole(ref call, ref push, EntryCost.OfLists);
        if (push.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(push.Length) : call.From(outcome);
    }

    internal static Reply Pop(ref Call call, bool left)
    {
        if (call.Count > 3)
            return call.WrongArity();
        long count = 1;
        if (call.Count == 3 && (!call.TryInt64(2, out count) || count < 0))
            return call.Fail(Fault.NotPositive);
        var pop = new ListPop { Left = left, Count = count, To = call.Out, Many = call.Count == 3 };
        CollectionCalls.Edit(ref call, ref pop);
        if (pop.WrongKind)
            return call.Fail(Fault.WrongType);
        if (pop.Found)
            return Reply.Sent;
        if (call.Count == 3)
            call.Out.NullArray();
        else
            call.Out.Null();
        return Reply.Sent;
    }

    /// <summary>LEFT or RIGHT.</summary>
    internal static bool TrySide(ref Call call, int index, out bool left)
    {
        left = call.Is(index, "LEFT"u8);
        return left || call.Is(index, "RIGHT"u8);
    }
}

/// <summary>Replies the elements of a range, or the one with an index.</summary>
internal struct ListRangeLook(RespWriter to, long start, long stop, bool single) : IExamine
{
    internal bool WrongKind;

    public unsafe void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.List;
        if (WrongKind)
            return;
        long count = Root.Count(record.Value);
        if (single && (start >= count || start < -count))
        {
            to.Null();
            return;
        }

        (long first, long last) = IndexRange.Of(start, single ? start : stop, count);
        if (!single)
            to.Array((int)Math.Max(last - first + 1, 0));
        if (first > last)
            return;
        ListWalk walk = ListWalk.From(ref record, first);
        for (long i = first; i <= last && walk.Next(ref record); i++)
            to.Bulk(walk.Span);
    }
}

internal readonly struct LPush : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LPUSH", -3, ListCommands.WriteFast, "RW INSERT", "key element [element ...]", "Puts elements at the front of a list.") with { Event = new("lpush", NotifyClasses.List) };

    public static Reply Run(ref Call call) => ListCommands.Push(ref call, left: true, onlyIfThere: false);
}

internal readonly struct RPush : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("RPUSH", -3, ListCommands.WriteFast, "RW INSERT", "key element [element ...]", "Puts elements at the end of a list.") with { Event = new("rpush", NotifyClasses.List) };

    public static Reply Run(ref Call call) => ListCommands.Push(ref call, left: false, onlyIfThere: false);
}

internal readonly struct LPushX : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LPUSHX", -3, ListCommands.WriteFast, "RW INSERT", "key element [element ...]", "Puts elements at the front of a list that exists.") with { Since = "2.2.0", Event = new("lpush", NotifyClasses.List) };

    public static Reply Run(ref Call call) => ListCommands.Push(ref call, left: true, onlyIfThere: true);
}

internal readonly struct RPushX : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("RPUSHX", -3, ListCommands.WriteFast, "RW INSERT", "key element [element ...]", "Puts elements at the end of a list that exists.") with { Since = "2.2.0", Event = new("rpush", NotifyClasses.List) };

    public static Reply Run(ref Call call) => ListCommands.Push(ref call, left: false, onlyIfThere: true);
}

internal readonly struct LPop : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LPOP", -2, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS DELETE", "key [count]", "Removes elements at the front of a list and returns them.") with { Event = new("lpop", NotifyClasses.List) { Empties = true } };

    public static Reply Run(ref Call call) => ListCommands.Pop(ref call, left: true);
}

internal readonly struct RPop : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("RPOP", -2, CommandFlags.Write | CommandFlags.Fast, "RW ACCESS DELETE", "key [count]", "Removes elements at the end of a list and returns them.") with { Event = new("rpop", NotifyClasses.List) { Empties = true } };

    public static Reply Run(ref Call call) => ListCommands.Pop(ref call, left: false);
}

internal readonly struct LLen : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LLEN", 2, CommandFlags.ReadOnly | CommandFlags.Fast, "RO", "key", "Returns the number of elements of a list.") with { Complexity = "O(1)" };

    public static Reply Run(ref Call call) => CollectionCalls.Count(ref call, RecordKind.List);
}

internal readonly struct LIndex : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LINDEX", 3, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key index", "Returns the element with an index.");

    public static Reply Run(ref Call call)
    {
        bool isNumber = call.TryInt64(2, out long index);
        var kind = default(CountLook);
        if (!isNumber) // the key is looked at first
        {
            if (CollectionCalls.Examine(ref call, ref kind) == Outcome.NotFound)
                return call.Null();
            return call.Fail(kind.Kind == RecordKind.List ? Fault.NotAnInteger : Fault.WrongType);
        }

        var look = new ListRangeLook(call.Out, index, index, single: true);
        return CollectionCalls.Examine(ref call, ref look) == Outcome.NotFound
            ? call.Null()
            : CollectionCalls.Done(ref call, look.WrongKind);
    }
}

internal readonly struct LRange : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LRANGE", 4, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key start stop", "Returns a range of elements.");

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long start) || !call.TryInt64(3, out long stop))
            return call.Fail(Fault.NotAnInteger);
        var look = new ListRangeLook(call.Out, start, stop, single: false);
        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        call.Out.Array(0);
        return Reply.Sent;
    }
}

internal readonly struct LSet : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LSET", 4, ListCommands.WriteSlow, "RW UPDATE", "key index element", "Sets the element with an index.") with { Event = new("lset", NotifyClasses.List) };

    public static unsafe Reply Run(ref Call call)
    {
        bool isNumber = call.TryInt64(2, out long index);
        var kind = default(CountLook);
        if (CollectionCalls.Examine(ref call, ref kind, quiet: true) == Outcome.NotFound)
            return call.Fail(Fault.NoSuchKey);
        if (kind.Kind != RecordKind.List)
            return call.Fail(Fault.WrongType);
        if (!isNumber)
            return call.Fail(Fault.NotAnInteger);
        var place = new ListPlace
        {
            Index = index,
            Replaces = true,
            Value = call.Args[3].Bytes,
            ValueBytes = call.Args[3].Length,
            Limits = ListLimits.Of(call.Server.Settings.Encoding),
        };
        Outcome outcome = CollectionCalls.Edit(ref call, ref place);
        if (!place.Existed || place.WrongKind)
            return call.Fail(place.Existed ? Fault.WrongType : Fault.NoSuchKey);
        if (!place.Found)
            return call.Fail(Fault.IndexOutOfRange);
        return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
    }
}

internal readonly struct LInsert : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LINSERT", 5, ListCommands.WriteSlow, "RW INSERT", "key <BEFORE | AFTER> pivot element", "Puts an element before or behind another.") with { Since = "2.2.0", Event = new("linsert", NotifyClasses.List) };

    public static unsafe Reply Run(ref Call call)
    {
        bool behind = call.Is(2, "AFTER"u8);
        if (!behind && !call.Is(2, "BEFORE"u8))
            return call.Fail(Fault.Syntax);
        var place = new ListPlace
        {
            Pivot = call.Args[3].Bytes, PivotBytes = call.Args[3].Length, Behind = behind, Value = call.Args[4].Bytes,
            ValueBytes = call.Args[4].Length,
            Limits = ListLimits.Of(call.Server.Settings.Encoding),
        };
        Outcome outcome = CollectionCalls.Edit(ref call, ref place);
        if (place.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!place.Existed || !place.Found)
            return call.Int(place.Existed ? -1 : 0);
        return outcome == Outcome.Done ? call.Int(place.Length) : call.From(outcome);
    }
}

internal readonly struct LRem : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LREM", 4, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key count element", "Removes elements equal to a value.") with { Event = new("lrem", NotifyClasses.List) { Empties = true } };

    public static unsafe Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long count))
            return call.Fail(Fault.NotAnInteger);
        var remove = new ListRemove { Count = count, Value = call.Args[3].Bytes, ValueBytes = call.Args[3].Length };
        CollectionCalls.Edit(ref call, ref remove);
        return remove.WrongKind ? call.Fail(Fault.WrongType) : call.Int(remove.Removed);
    }
}

internal readonly struct LTrim : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LTRIM", 4, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key start stop", "Removes all elements outside of a range.") with { Event = new("ltrim", NotifyClasses.List) { Empties = true } };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long start) || !call.TryInt64(3, out long stop))
            return call.Fail(Fault.NotAnInteger);
        var trim = new ListTrim { Start = start, Stop = stop };
        Outcome outcome = CollectionCalls.Edit(ref call, ref trim);
        if (outcome == Outcome.Unchanged && trim.Existed && !trim.WrongKind)
            Telling.AsWritten(ref call, 1);
        return trim.WrongKind ? call.Fail(Fault.WrongType) : call.Ok();
    }
}
