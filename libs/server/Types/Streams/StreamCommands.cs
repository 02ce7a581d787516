using Garnet.Server.Commands;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>Streams: XADD, XRANGE, XREAD and their relatives; consumer groups are <see cref="GroupCommands"/>.</summary>
internal static unsafe class StreamCommands
{
    internal const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;

    internal static void Register(CommandTable table)
    {
        table.Add<XAdd>();
        table.Add<XLen>();
        table.Add<XRange>();
        table.Add<XRevRange>();
        table.Add<XDel>();
        table.Add<XDelEx>();
        table.Add<XAckDel>();
        table.Add<XTrim>();
        table.Add<XSetId>();
        table.Add<XRead>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.AddEdit<StreamAdd>();
        table.AddEdit<StreamTrim>();
        table.AddEdit<StreamDelete>();
        table.AddEdit<StreamSetId>();
        table.AddEdit<StreamPiece>();
        table.AddEdit<StreamFill>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage }) { Group = "stream", Syntax = syntax, Summary = summary, Complexity = "O(N)", Since = "5.0.0" };

    /// <summary>Reads an id; on false the error has been written.</summary>
    internal static bool TryId(ref Call call, int index, ulong missingSeq, out StreamId id) =>
        StreamId.TryParse(call[index], missingSeq, out id) || FailId(ref call);

    /// <summary>Looks whether all arguments of a range are ids; on false the error has been written.</summary>
    internal static bool AreIds(ref Call call, int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            if (!TryId(ref call, i, 0, out _))
                return false;
        }

        return true;
    }

    /// <summary>Reads both ends of a range; on false the error has been written.</summary>
    internal static bool TryRange(ref Call call, int from, int to, out StreamId first, out StreamId last)
    {
        last = default;
        if (!StreamId.TryParseBound(call[from], 0, out first, out bool isExclusive))
            return FailId(ref call);
        if (isExclusive && first == StreamId.Max)
            return Fail(ref call, "ERR invalid start ID for the interval"u8);
        if (isExclusive)
            first = first.Next;
        if (!StreamId.TryParseBound(call[to], ulong.MaxValue, out last, out isExclusive))
            return FailId(ref call);
        if (isExclusive && last.IsZero)
            return Fail(ref call, "ERR invalid end ID for the interval"u8);
        if (isExclusive)
            last = last.Previous;
        return true;
    }

    internal static bool Fail(ref Call call, ReadOnlySpan<byte> text)
    {
        call.FailBytes(text);
        return false;
    }

    internal static bool FailId(ref Call call) => Fail(ref call, "ERR Invalid stream ID specified as stream command argument"u8);
}

internal readonly struct XAdd : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XADD", -5, StreamCommands.WriteFast, "RW UPDATE", "key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] * | id field value [field value ...]", "Adds an entry to a stream.") with { Complexity = "O(1)", Tips = "nondeterministic_output", Event = new("xadd", NotifyClasses.Stream) };

    public static unsafe Reply Run(ref Call call)
    {
        if (!TrimOptions.TryRead(ref call, 2, isAdd: true, out TrimOptions options))
            return Reply.Failed;
        int at = options.Next, fields = call.Count - at - 1;
        var add = new StreamAdd { OnlyIfThere = options.OnlyIfThere, Limits = StreamLimits.Of(call.Server.Settings.Encoding) };
        if (at < call.Count && !TryChoose(ref call, at, ref add))
            return Reply.Failed;
        if (!options.TrySettle(ref call, isAdd: true))
            return Reply.Failed;
        if (fields < 2 || fields % 2 != 0)
            return call.WrongArity();
        if (add.Choice == IdChoice.Given && add.Id.IsZero)
            return call.FailBytes("ERR The ID specified in XADD must be greater than 0-0"u8);
        add.Fields = new Operands(call.Args + at + 1, fields);
        return options.Plan.IsSet ? AddAndTrim(ref call, ref add, options) : Answer(ref call, CollectionCalls.Edit(ref call, ref add), add);
    }

    private static Reply AddAndTrim(ref Call call, ref StreamAdd add, in TrimOptions options)
    {
        call.Store.EnsureRoom(0);
        KeyRef key = call.Key;
        call.Store.Lock([key]);
        Outcome outcome = call.Store.Edit(in key, ref add);
        var trim = new StreamTrim { Plan = options.Plan, Policy = options.Policy };
        if (outcome == Outcome.Done)
            call.Store.Edit(in key, ref trim);
        call.Store.Unlock();
        if (trim.Removed > 0)
            StreamEvents.Tell(ref call, Spec.Event, StreamEvents.Trimmed);
        return Answer(ref call, outcome, add);
    }

    private static Reply Answer(ref Call call, Outcome outcome, in StreamAdd add)
    {
        if (outcome == Outcome.Done)
        {
            StreamEntry.Reply(add.Id, call.Out);
            return Reply.Sent;
        }

        if (add.Missing)
            return call.Null();
        if (add.WrongKind)
            return call.Fail(Fault.WrongType);
        if (add.Exhausted)
            return call.FailBytes("ERR The stream has exhausted the last possible ID, unable to add more items"u8);
        return add.TooSmall ? call.FailBytes("ERR The ID specified in XADD is equal or smaller than the target stream top item"u8) : call.From(outcome);
    }

    private static bool TryChoose(ref Call call, int at, ref StreamAdd add)
    {
        ReadOnlySpan<byte> text = call[at];
        if (text.SequenceEqual("*"u8))
        {
            add.Choice = IdChoice.Next;
            add.Id = new StreamId((ulong)call.NowMs, 0);
            return true;
        }

        if (!text.EndsWith("-*"u8))
            return StreamCommands.TryId(ref call, at, 0, out add.Id);
        add.Choice = IdChoice.NextInMs;
        if (!StreamId.TryNumber(text[..^2], out ulong ms))
            return StreamCommands.FailId(ref call);
        add.Id = new StreamId(ms, 0);
        return true;
    }
}

internal readonly struct XLen : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XLEN", 2, CommandFlags.ReadOnly | CommandFlags.Fast, "RO", "key", "Returns the number of entries of a stream.") with { Complexity = "O(1)" };

    public static Reply Run(ref Call call) => CollectionCalls.Count(ref call, RecordKind.Stream);
}

internal readonly struct XDel : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XDEL", -3, CommandFlags.Write | CommandFlags.Fast, "RW DELETE", "key id [id ...]", "Deletes entries of a stream and returns how many there were.") with { Event = new("xdel", NotifyClasses.Stream) };

    public static unsafe Reply Run(ref Call call)
    {
        var kind = default(CountLook);
        if (CollectionCalls.Examine(ref call, ref kind, quiet: true) == Outcome.NotFound)
            return call.Int(0);
        if (kind.Kind != RecordKind.Stream)
            return call.Fail(Fault.WrongType);
        if (!StreamCommands.AreIds(ref call, 2, call.Count - 2))
            return Reply.Failed;
        var delete = new StreamDelete { Ids = new StreamIds(call.Args + 2, call.Count - 2) };
        CollectionCalls.Edit(ref call, ref delete);
        return delete.WrongKind ? call.Fail(Fault.WrongType) : call.Int(delete.Deleted);
    }
}

internal readonly struct XTrim : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XTRIM", -4, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key MAXLEN | MINID [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]", "Removes entries from the front of a stream.") with { Tips = "nondeterministic_output", Event = StreamEvents.Trimmed };

    public static Reply Run(ref Call call)
    {
        if (!TrimOptions.TryRead(ref call, 2, isAdd: false, out TrimOptions options) || !options.TrySettle(ref call, isAdd: false))
            return Reply.Failed;
        var trim = new StreamTrim { Plan = options.Plan, Policy = options.Policy };
        CollectionCalls.Edit(ref call, ref trim);
        return trim.WrongKind ? call.Fail(Fault.WrongType) : call.Int(trim.Removed);
    }
}

internal readonly struct XSetId : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XSETID", -3, StreamCommands.WriteFast, "RW UPDATE", "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]", "Sets the last id of a stream.") with { Complexity = "O(1)", Event = new("xsetid", NotifyClasses.Stream) };

    public static Reply Run(ref Call call)
    {
        var set = new StreamSetId { Added = -1 };
        if (!StreamCommands.TryId(ref call, 2, 0, out set.Last))
            return Reply.Failed;
        for (int i = 3; i < call.Count; i += 2)
        {
            bool hasMore = i + 1 < call.Count;
            if (hasMore && call.Is(i, "ENTRIESADDED"u8))
            {
                if (!call.TryInt64(i + 1, out set.Added))
                    return call.Fail(Fault.NotAnInteger);
                if (set.Added < 0)
                    return call.FailBytes("ERR entries_added must be positive"u8);
            }
            else if (hasMore && call.Is(i, "MAXDELETEDID"u8))
            {
                if (!StreamCommands.TryId(ref call, i + 1, 0, out set.MaxDeleted))
                    return Reply.Failed;
                if (set.Last < set.MaxDeleted)
                    return call.FailBytes("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"u8);
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        CollectionCalls.Edit(ref call, ref set);
        return Answer(ref call, set);
    }

    private static Reply Answer(ref Call call, in StreamSetId set)
    {
        if (!set.Existed || set.WrongKind)
            return call.Fail(set.Existed ? Fault.WrongType : Fault.NoSuchKey);
        if (set.TooSmall)
            return call.FailBytes("ERR The ID specified in XSETID is smaller than the target stream top item"u8);
        return set.TooFew ? call.FailBytes("ERR The entries_added specified in XSETID is smaller than the target stream length"u8) : call.Ok();
    }
}
