using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Lists;

/// <summary>Moves an element from one list to another in one step.</summary>
internal readonly struct LMove : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LMOVE", 5, ListCommands.WriteSlow, "", "source destination <LEFT | RIGHT> <LEFT | RIGHT>", "Moves an element from an end of one list to an end of another.") with { Since = "6.2.0", Complexity = "O(1)", Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE", RestUsage = "RW INSERT" } };

    public static Reply Run(ref Call call)
    {
        if (!ListCommands.TrySide(ref call, 3, out bool fromLeft) || !ListCommands.TrySide(ref call, 4, out bool toLeft))
            return call.Fail(Fault.Syntax);
        return Move(ref call, fromLeft, toLeft);
    }

    internal static Reply Move(ref Call call, bool fromLeft, bool toLeft)
    {
        Reply reply = TryMove(ref call, fromLeft, toLeft, out bool exists);
        return exists ? reply : call.Null();
    }

    /// <summary>Moves an element and replies it, or an error; writes nothing where there is no source.</summary>
    internal static Reply TryMove(ref Call call, bool fromLeft, bool toLeft, out bool exists)
    {
        call.Session.Room.Ensure(0);
        Span<KeyRef> both = [call.Key, call.KeyAt(2)];
        call.Session.Lock(both);
        var move = new ListMove(fromLeft, toLeft, ListLimits.Of(call.Server.Settings.Encoding));
        int noted = call.Worker.Notes.Count;
        Outcome outcome = MoveLocked(call.Session, both, move, call.Out, out bool isWrongKind);
        call.Session.Unlock();
        if (outcome == Outcome.Done)
            Tell(ref call, move, noted);
        exists = outcome != Outcome.NotFound;
        if (isWrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.NotFound ? Reply.Sent : call.From(outcome);
    }

    private static void Tell(ref Call call, ListMove move, int noted)
    {
        if (call.Worker.Notes.Count == noted)
        {
            // The only element of a list to that list.
            Telling.AsWritten(ref call, 1);
            Telling.AsWritten(ref call, 1);
        }

        Telling.Tell(ref call, ListShift.PushedBy(move), ListTake.EventOf(move.FromLeft));
    }

    /// <summary>Moves an element between the two keys, which are locked, and replies it.</summary>
    internal static unsafe Outcome MoveLocked(
        StoreSession store, scoped ReadOnlySpan<KeyRef> both, ListMove move, RespWriter to, out bool isWrongKind)
    {
        var copy = new EndCopy { Left = move.FromLeft };
        var kind = default(CountLook);
        isWrongKind = false;
        try
        {
            if (store.Examine(in both[0], ref copy) != Outcome.Done)
                return Outcome.NotFound;
            isWrongKind = copy.WrongKind
                || (store.Examine(in both[1], ref kind, quiet: true) == Outcome.Done && kind.Kind != RecordKind.List);
            if (isWrongKind)
                return Outcome.Unchanged;
            Operands element = OperandText.Read(copy.Element);
            Outcome outcome = Shift(store, both, move, element, kind.Count);
            if (outcome != Outcome.Done)
                return outcome;
            Operands.Reader reader = element.Read();
            reader.Next();
            to.Bulk(reader.Span);
            return Outcome.Done;
        }
        finally
        {
            copy.Element.Free(); // common.Q1
        }
    }

    private static Outcome Shift(StoreSession store, scoped ReadOnlySpan<KeyRef> both, ListMove move, in Operands element, long targetCount)
    {
        store.Room.Announce(in both[both[0].Length > both[1].Length ? 0 : 1], 2, element.EncodedBytes());
        var pop = new ListPop { Left = move.FromLeft, Count = 1 };
        var push = new ListPush { Values = element, Left = move.ToLeft, Limits = move.Limits };
        // One list: out first, or the ends would be others. Two: in first, since there may be no memory for that.
        if (both[0].Namespace == both[1].Namespace && both[0].Span.SequenceEqual(both[1].Span))
        {
            return targetCount == 1 ? Outcome.Done : Turn(store, in both[0], ref pop, ref push, element);
        }

        Outcome outcome = store.Edit(in both[1], ref push);
        if (outcome == Outcome.Done)
            store.Edit(in both[0], ref pop);
        return outcome;
    }

    // Before anything goes out there is room for what comes in (store.U20), and the end that it comes to can be read (store.C7).
    private static Outcome Turn(StoreSession store, in KeyRef list, ref ListPop pop, ref ListPush push, in Operands element)
    {
        if (!store.Room.Demand(element.EncodedBytes()))
            return Outcome.OutOfMemory;
        var end = new EndCopy { Left = push.Left };
        store.Examine(in list, ref end, quiet: true);
        end.Element.Free();
        using StepRoom.Assurance assured = store.Room.Assure();
        store.Edit(in list, ref pop);
        return store.Edit(in list, ref push);
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
    public static CommandSpec Spec => ListCommands.Spec("RPOPLPUSH", 3, ListCommands.WriteSlow, "", "source destination", "Moves the last element of a list to the front of another.") with { Since = "1.2.0", Complexity = "O(1)", Keys = KeySpec.Two with { Usage = "RW ACCESS DELETE", RestUsage = "RW INSERT" } };

    public static Reply Run(ref Call call) => LMove.Move(ref call, fromLeft: false, toLeft: true);
}

internal readonly struct LMPop : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LMPOP", -4, CommandFlags.Write | CommandFlags.MovableKeys | CommandFlags.Quick, "", "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]", "Removes elements of the first list that is there and returns them.") with { Since = "7.0.0", Keys = new KeySpec(2, -1, 1) { CountArg = 1, Usage = "RW ACCESS DELETE" }, Event = new("lpop", NotifyClasses.List) { Empties = true, Word = "RIGHT", WithWord = "rpop" } };

    public static Reply Run(ref Call call)
    {
        if (!TryParse(ref call, 1, out int keys, out ListTake take, out Reply failed))
            return failed;
        if (BlockingCalls.TryTake(ref call, take, 2, keys, out Reply reply))
            return reply;
        call.Out.NullArray();
        return Reply.Sent;
    }

    /// <summary>Reads the number of keys, the side and the count; on false the error has been written.</summary>
    internal static bool TryParse(ref Call call, int numberAt, out int keys, out ListTake take, out Reply failed)
    {
        bool left = false;
        long most = 1;
        failed = Reply.Sent;
        keys = 0;
        if (!call.TryInt64(numberAt, out long number) || number < 1)
            failed = call.Fail(Fault.KeyCountNotPositive);
        else if (number >= call.Count - numberAt - 1 || !ListCommands.TrySide(ref call, numberAt + 1 + (int)number, out left))
            failed = call.Fail(Fault.Syntax);
        else
            keys = (int)number;
        int next = numberAt + 2 + keys;
        if (failed == Reply.Sent && next < call.Count)
        {
            if (next + 2 != call.Count || !call.Is(next, "COUNT"u8))
                failed = call.Fail(Fault.Syntax);
            else if (!call.TryInt64(next + 1, out most) || most < 1)
                failed = call.Fail(Fault.TakeCountNotPositive);
        }

        take = new ListTake(left, many: true, most);
        return failed == Reply.Sent;
    }
}
