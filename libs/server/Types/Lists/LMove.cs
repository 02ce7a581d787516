using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Server.Net;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Lists;

/// <summary>Moves an element from one list to another in one step.</summary>
internal readonly struct LMove : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LMOVE", 5, ListCommands.WriteSlow, "", "source destination LEFT | RIGHT LEFT | RIGHT", "Moves an element from an end of one list to an end of another.") with { Since = "6.2.0", Complexity = "O(1)", Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE" } };

    public static Reply Run(ref Call call)
    {
        if (!ListCommands.TrySide(ref call, 3, out bool fromLeft) || !ListCommands.TrySide(ref call, 4, out bool toLeft))
            return call.Fail(Fault.Syntax);
        return Move(ref call, fromLeft, toLeft);
    }

    internal static Reply Move(ref Call call, bool fromLeft, bool toLeft)
    {
        call.Store.EnsureRoom(0);
        KeyRef source = call.Key, target = call.KeyAt(2);
        Span<KeyRef> both = [source, target];
        var copy = new EndCopy { Left = fromLeft };
        call.Store.Lock(both);
        bool exists = call.Store.Examine(in source, ref copy) == Outcome.Done;
        Outcome outcome = exists && !copy.WrongKind ? MoveLocked(ref call, both, ref copy, toLeft) : Outcome.Unchanged;
        call.Store.Unlock();
        Reply reply = !exists ? call.Null()
            : copy.WrongKind ? call.Fail(Fault.WrongType)
            : outcome == Outcome.Done ? Show(ref call, copy.Element)
            : call.From(outcome);
        copy.Element.Free();
        return reply;
    }

    private static unsafe Reply Show(ref Call call, in ByteQueue element)
    {
        Operands.TryDecode(new ReadOnlySpan<byte>(element.Head, element.Count), out Operands moved);
        Operands.Reader reader = moved.Read();
        reader.Next();
        return call.Bulk(reader.Span);
    }

    private static unsafe Outcome MoveLocked(ref Call call, scoped ReadOnlySpan<KeyRef> both, ref EndCopy copy, bool toLeft)
    {
        var kind = default(CountLook);
        copy.WrongKind = call.Store.Examine(in both[1], ref kind, quiet: true) == Outcome.Done && kind.Kind != RecordKind.List;
        if (copy.WrongKind)
            return Outcome.Unchanged;
        Operands.TryDecode(new ReadOnlySpan<byte>(copy.Element.Head, copy.Element.Count), out Operands element);
        var pop = new ListPop { Left = copy.Left, Count = 1 };
        var push = new ListPush { Values = element, Left = toLeft, Limits = ListLimits.Of(call.Server.Settings.Encoding) };
        // One list: out first, or the ends would be others. Two: in first, since there may be no memory for that.
        if (call[1].SequenceEqual(call[2]))
        {
            if (kind.Count == 1)
                return Outcome.Done;
            call.Store.Edit(in both[0], ref pop);
            return call.Store.Edit(in both[1], ref push);
        }

        Outcome outcome = call.Store.Edit(in both[1], ref push);
        if (outcome == Outcome.Done)
            call.Store.Edit(in both[0], ref pop);
        return outcome;
    }

    /// <summary>Copies the element at an end, as an operand.</summary>
    private struct EndCopy : IExamine
    {
        internal bool Left;
        internal ByteQueue Element;
        internal bool WrongKind;

        public unsafe void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.List;
            if (WrongKind)
                return;
            ListWalk walk = ListWalk.From(ref record, Left ? 0 : Root.Count(record.Value));
            _ = Left ? walk.Next(ref record) : walk.Previous(ref record);
            OperandText.Append(ref Element, walk.Span);
        }
    }
}

internal readonly struct RPopLPush : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("RPOPLPUSH", 3, ListCommands.WriteSlow, "", "source destination", "Moves the last element of a list to the front of another.") with { Since = "1.2.0", Complexity = "O(1)", Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE" } };

    public static Reply Run(ref Call call) => LMove.Move(ref call, fromLeft: false, toLeft: true);
}

internal readonly struct LMPop : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LMPOP", -4, CommandFlags.Write | CommandFlags.MovableKeys | CommandFlags.Quick, "", "numkeys key [key ...] LEFT | RIGHT [COUNT count]", "Removes elements of the first list that is there and returns them.") with { Since = "7.0.0", Keys = new KeySpec(2, -1, 1) { CountArg = 1, Usage = "RW ACCESS DELETE" } };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(1, out long keys) || keys < 1)
            return call.FailBytes("ERR numkeys should be greater than 0"u8);
        if (keys >= call.Count - 2 || !ListCommands.TrySide(ref call, 2 + (int)keys, out bool left))
            return call.Fail(Fault.Syntax);
        long count = 1;
        int next = 3 + (int)keys;
        if (next < call.Count)
        {
            if (next + 2 != call.Count || !call.Is(next, "COUNT"u8))
                return call.Fail(Fault.Syntax);
            if (!call.TryInt64(next + 1, out count) || count < 1)
                return call.FailBytes("ERR count should be greater than 0"u8);
        }

        return Pop(ref call, (int)keys, left, count);
    }

    private static unsafe Reply Pop(ref Call call, int keys, bool left, long count)
    {
        for (int i = 0; i < keys; i++)
        {
            KeyRef key = call.KeyAt(2 + i);
            var pop = new ListPop { Left = left, Count = count, To = call.Out, Many = true, Named = true, Name = call.Args[2 + i] };
            call.Store.Edit(in key, ref pop);
            if (pop.WrongKind)
                return call.Fail(Fault.WrongType);
            if (pop.Found)
                return Reply.Sent;
        }

        call.Out.NullArray();
        return Reply.Sent;
    }
}
