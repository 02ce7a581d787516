using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>Streams: XADD, XRANGE, XREAD and their relatives; consumer groups are <see cref="GroupCommands"/>.</summary>
internal static unsafe class StreamCommands
{
    internal const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;

    internal static void Register(CommandTable table)
    {
        table.Add<XAdd>();
        table.Add<XCfgSet>();
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
        table.AddParts<StreamPiece>();
        table.AddEdit<StreamFill>();
        table.AddEdit<StreamProduce>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage })
            { Group = "stream", Syntax = syntax, Summary = summary, Complexity = "O(N)", Since = "5.0.0" };

    /// <summary>Reads an id; on false the error has been written.</summary>
    internal static bool TryId(ref Call call, int index, ulong missingSeq, out StreamId id) =>
        StreamId.TryParse(call[index], missingSeq, out id) || FailId(ref call);

    /// <summary>The same where <c>-</c> and <c>+</c> are ids too.</summary>
    internal static bool TryAnyId(ref Call call, int index, out StreamId id) =>
        StreamId.TryParseAny(call[index], 0, out id) || FailId(ref call);

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

    /// <summary>Says that nothing is behind the largest id; always false.</summary>
    internal static bool FailStart(ref Call call) => Fail(ref call, "ERR invalid start ID for the interval"u8);

    /// <summary>Reads both ends of a range; on false the error has been written.</summary>
    internal static bool TryRange(ref Call call, int from, int to, out StreamId first, out StreamId last)
    {
        last = default;
        if (!StreamId.TryParseBound(call[from], 0, out first, out bool isExclusive))
            return FailId(ref call);
        if (isExclusive && first == StreamId.Max)
            return FailStart(ref call);
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
    public static CommandSpec Spec => StreamCommands.Spec("XTRIM", -4, CommandFlags.Write | CommandFlags.Quick, "RW DELETE", "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]", "Removes entries from the front of a stream.") with { Tips = "nondeterministic_output", Event = StreamEvents.Trimmed };

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
        return set.TooFew
            ? call.FailBytes("ERR The entries_added specified in XSETID is smaller than the target stream length"u8)
            : call.Ok();
    }
}
