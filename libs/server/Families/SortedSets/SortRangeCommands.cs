using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Server.Families.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>Ranges of sorted sets: showing, counting and removing them.</summary>
internal static class SortRangeCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ZRange>();
        table.Add<ZRevRange>();
        table.Add<ZRangeByScore>();
        table.Add<ZRevRangeByScore>();
        table.Add<ZRangeByLex>();
        table.Add<ZRevRangeByLex>();
        table.Add<ZCount>();
        table.Add<ZLexCount>();
        table.Add<ZRemRangeByRank>();
        table.Add<ZRemRangeByScore>();
        table.Add<ZRemRangeByLex>();
        table.Add<ZPopMin>();
        table.Add<ZPopMax>();
        table.Add<ZMPop>();
    }

    internal static CommandSpec Read(string name, string syntax, string summary, string since) =>
        SortedSetCommands.Spec(name, -4, SortedSetCommands.ReadSlow, "RO ACCESS", syntax, summary)
            with { Since = since, Complexity = "O(log(N)+M)" };

    internal static CommandSpec Remove(string name, string syntax, string summary, string since) =>
        SortedSetCommands.Spec(name, 4, SortedSetCommands.WriteSlow, "RW DELETE", syntax, summary)
            with { Since = since, Complexity = "O(log(N)+M)" };

    internal static CommandSpec Pop(string name, string summary) =>
        SortedSetCommands.Spec(name, -2, SortedSetCommands.WriteFast, "RW ACCESS DELETE", "key [count]", summary)
            with { Since = "5.0.0", Complexity = "O(log(N)*M)" };

    internal static Reply Show(ref Call call, in SortRange range, bool withScores)
    {
        var look = new RangeLook(range, new SortedReply(call.Out) { WithScores = withScores, Nested = call.Out.Resp3 });
        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        call.Out.Array(0);
        return Reply.Sent;
    }

    internal static Reply Count(ref Call call, in SortRange range)
    {
        var look = new RangeLook(range, null);
        CollectionCalls.Examine(ref call, ref look);
        return look.WrongKind ? call.Fail(Fault.WrongType) : call.Int(look.Count);
    }

    internal static Reply Cut(ref Call call, in SortRange range)
    {
        var cut = new SortedSetCut { Range = range };
        SortedSetCalls.Edit(ref call, ref cut);
        return cut.WrongKind ? call.Fail(Fault.WrongType) : call.Int(cut.Count);
    }

    internal static Reply PopEnd(ref Call call, bool greatest)
    {
        if (call.Count > 3)
            return call.Fail(Fault.Syntax);
        long count = 1;
        if (call.Count == 3 && (!call.TryInt64(2, out count) || count < 0))
            return call.Fail(Fault.NotPositive);
        var cut = new SortedSetCut
        {
            Range = new SortRange { ByRank = true, Stop = count - 1, Start = count == 0 ? 1 : 0, Reverse = greatest },
            To = new SortedReply(call.Out) { WithScores = true, Nested = call.Out.Resp3 && call.Count == 3 },
        };
        if (count == 0)
            cut.Range = cut.Range with { Start = 1, Stop = 0 };
        SortedSetCalls.Edit(ref call, ref cut);
        if (cut.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!cut.Found)
            call.Out.Array(0);
        return Reply.Sent;
    }

    /// <summary>Reads ranks or bounds from two arguments, the lower first; on false the error has been written.</summary>
    internal static unsafe bool TryRange(ref Call call, int low, int high, BoundKind kind, ref SortRange range)
    {
        range.ByRank = kind == BoundKind.Element;
        if (range.ByRank)
        {
            if (call.TryInt64(low, out range.Start) && call.TryInt64(high, out range.Stop))
                return true;
            call.Fail(Fault.NotAnInteger);
            return false;
        }

        if (kind == BoundKind.Score)
        {
            if (SortBound.TryScore(call.Args[low], upper: false, out range.Low)
                && SortBound.TryScore(call.Args[high], upper: true, out range.High))
                return true;
            call.FailBytes("ERR min or max is not a float"u8);
            return false;
        }

        if (SortBound.TryMember(call.Args[low], upper: false, out range.Low)
            && SortBound.TryMember(call.Args[high], upper: true, out range.High))
            return true;
        call.FailBytes("ERR min or max not valid string range item"u8);
        return false;
    }

    /// <summary>Replies the range that the arguments name.</summary>
    internal static Reply ShowBy(ref Call call, BoundKind kind, bool reverse, bool modern) =>
        TryParse(ref call, 2, new RangeSyntax { Kind = kind, Reverse = reverse, Modern = modern, Shows = true }, out SortRange range,
            out bool withScores, out Reply failed)
            ? Show(ref call, range, withScores)
            : failed;

    /// <summary>Reads a range's ends from argument <paramref name="first"/> on, and the options behind; on false the error has been written.</summary>
    internal static bool TryParse(ref Call call, int first, RangeSyntax syntax, out SortRange range, out bool withScores, out Reply failed)
    {
        range = new SortRange { Reverse = syntax.Reverse, Limit = -1 };
        withScores = false;
        BoundKind kind = syntax.Kind;
        bool limited = false;
        failed = Reply.Failed;
        for (int i = first + 2; i < call.Count; i++)
        {
            if (syntax.Shows && call.Is(i, "WITHSCORES"u8))
                withScores = true;
            else if (call.Is(i, "LIMIT"u8) && i + 2 < call.Count && (syntax.Modern || kind != BoundKind.Element))
            {
                if (!call.TryInt64(i + 1, out range.Offset) || !call.TryInt64(i + 2, out range.Limit))
                {
                    call.Fail(Fault.NotAnInteger);
                    return false;
                }

                limited = true;
                i += 2;
            }
            else if (syntax.Modern && !range.Reverse && call.Is(i, "REV"u8))
                range.Reverse = true;
            else if (syntax.Modern && kind == BoundKind.Element && call.Is(i, "BYSCORE"u8))
                kind = BoundKind.Score;
            else if (syntax.Modern && kind == BoundKind.Element && call.Is(i, "BYLEX"u8))
                kind = BoundKind.Member;
            else
            {
                call.Fail(Fault.Syntax);
                return false;
            }
        }

        if (limited && range.Limit != -1 && kind == BoundKind.Element)
            call.FailBytes("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"u8);
        else if (withScores && kind == BoundKind.Member)
            call.FailBytes("ERR syntax error, WITHSCORES not supported in combination with BYLEX"u8);
        else
        {
            bool swapped = range.Reverse && kind != BoundKind.Element;
            return TryRange(ref call, swapped ? first + 1 : first, swapped ? first : first + 1, kind, ref range);
        }

        return false;
    }

    private struct RangeLook(SortRange range, SortedReply? to) : IExamine
    {
        internal bool WrongKind;
        internal long Count;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.SortedSet;
            if (WrongKind)
                return;
            HiddenRanks hidden = HiddenRanks.Of(ref record);
            (long rank, Count) = range.Resolve(ref record, hidden);
            to?.Write(ref record, (rank, Count), range.Reverse, hidden);
        }
    }
}

/// <summary>What a command on a range takes.</summary>
internal struct RangeSyntax
{
    /// <summary>What the ends are unless an option says otherwise; by default ranks.</summary>
    internal BoundKind Kind;
    internal bool Reverse;
    /// <summary>BYSCORE, BYLEX and REV are options.</summary>
    internal bool Modern;
    /// <summary>WITHSCORES is an option.</summary>
    internal bool Shows;
}

internal readonly struct ZRange : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZRANGE", "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]", "Returns a range of members.", "1.2.0");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Element, reverse: false, modern: true);
}

internal readonly struct ZRevRange : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZREVRANGE", "key start stop [WITHSCORES]", "Returns a range of members, the greatest first.", "1.2.0");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Element, reverse: true, modern: false);
}

internal readonly struct ZRangeByScore : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZRANGEBYSCORE", "key min max [WITHSCORES] [LIMIT offset count]", "Returns the members with scores in a range.", "1.0.5");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Score, reverse: false, modern: false);
}

internal readonly struct ZRevRangeByScore : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZREVRANGEBYSCORE", "key max min [WITHSCORES] [LIMIT offset count]", "Returns the members with scores in a range, the greatest first.", "2.2.0");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Score, reverse: true, modern: false);
}

internal readonly struct ZRangeByLex : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZRANGEBYLEX", "key min max [LIMIT offset count]", "Returns the members in a range of bytes.", "2.8.9");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Member, reverse: false, modern: false);
}

internal readonly struct ZRevRangeByLex : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Read("ZREVRANGEBYLEX", "key max min [LIMIT offset count]", "Returns the members in a range of bytes, the greatest first.", "2.8.9");

    public static Reply Run(ref Call call) => SortRangeCommands.ShowBy(ref call, BoundKind.Member, reverse: true, modern: false);
}

internal readonly struct ZCount : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZCOUNT", 4, SortedSetCommands.ReadFast, "RO ACCESS", "key min max", "Counts the members with scores in a range.") with { Since = "2.0.0" };

    public static Reply Run(ref Call call)
    {
        var range = new SortRange { Limit = -1 };
        return SortRangeCommands.TryRange(ref call, 2, 3, BoundKind.Score, ref range)
            ? SortRangeCommands.Count(ref call, range)
            : Reply.Failed;
    }
}

internal readonly struct ZLexCount : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZLEXCOUNT", 4, SortedSetCommands.ReadFast, "RO ACCESS", "key min max", "Counts the members in a range of bytes.") with { Since = "2.8.9" };

    public static Reply Run(ref Call call)
    {
        var range = new SortRange { Limit = -1 };
        return SortRangeCommands.TryRange(ref call, 2, 3, BoundKind.Member, ref range)
            ? SortRangeCommands.Count(ref call, range)
            : Reply.Failed;
    }
}

internal readonly struct ZRemRangeByRank : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Remove("ZREMRANGEBYRANK", "key start stop", "Removes members by their ranks.", "2.0.0") with { Event = new("zremrangebyrank", NotifyClasses.SortedSet) { Empties = true } };

    public static Reply Run(ref Call call)
    {
        var range = new SortRange { Limit = -1 };
        return SortRangeCommands.TryRange(ref call, 2, 3, BoundKind.Element, ref range)
            ? SortRangeCommands.Cut(ref call, range)
            : Reply.Failed;
    }
}

internal readonly struct ZRemRangeByScore : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Remove("ZREMRANGEBYSCORE", "key min max", "Removes members with scores in a range.", "1.2.0") with { Event = new("zremrangebyscore", NotifyClasses.SortedSet) { Empties = true } };

    public static Reply Run(ref Call call)
    {
        var range = new SortRange { Limit = -1 };
        return SortRangeCommands.TryRange(ref call, 2, 3, BoundKind.Score, ref range)
            ? SortRangeCommands.Cut(ref call, range)
            : Reply.Failed;
    }
}

internal readonly struct ZRemRangeByLex : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Remove("ZREMRANGEBYLEX", "key min max", "Removes members in a range of bytes.", "2.8.9") with { Event = new("zremrangebylex", NotifyClasses.SortedSet) { Empties = true } };

    public static Reply Run(ref Call call)
    {
        var range = new SortRange { Limit = -1 };
        return SortRangeCommands.TryRange(ref call, 2, 3, BoundKind.Member, ref range)
            ? SortRangeCommands.Cut(ref call, range)
            : Reply.Failed;
    }
}

internal readonly struct ZPopMin : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Pop("ZPOPMIN", "Removes the members with the smallest scores and returns them.") with { Event = new("zpopmin", NotifyClasses.SortedSet) { Empties = true } };

    public static Reply Run(ref Call call) => SortRangeCommands.PopEnd(ref call, greatest: false);
}

internal readonly struct ZPopMax : ICommand
{
    public static CommandSpec Spec => SortRangeCommands.Pop("ZPOPMAX", "Removes the members with the greatest scores and returns them.") with { Event = new("zpopmax", NotifyClasses.SortedSet) { Empties = true } };

    public static Reply Run(ref Call call) => SortRangeCommands.PopEnd(ref call, greatest: true);
}

internal readonly struct ZMPop : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZMPOP", -4, SortedSetCommands.WriteSlow | CommandFlags.MovableKeys, "", "numkeys key [key ...] <MIN | MAX> [COUNT count]", "Removes members of the first sorted set that is there and returns them.") with { Since = "7.0.0", Keys = new KeySpec(2, -1, 1) { CountArg = 1, Usage = "RW ACCESS DELETE" }, Event = new("zpopmin", NotifyClasses.SortedSet) { Empties = true, Word = "MAX", WithWord = "zpopmax" } };

    public static Reply Run(ref Call call)
    {
        if (!TryParse(ref call, 1, out int keys, out SortedTake take, out Reply failed))
            return failed;
        if (BlockingCalls.TryTake(ref call, take, 2, keys, out Reply reply))
            return reply;
        call.Out.NullArray();
        return Reply.Sent;
    }

    /// <summary>Reads the number of keys, the end and the count; on false the error has been written.</summary>
    internal static bool TryParse(ref Call call, int numberAt, out int keys, out SortedTake take, out Reply failed)
    {
        take = default;
        failed = Reply.Sent;
        keys = 0;
        if (!call.TryInt64(numberAt, out long number) || number < 1)
            failed = call.Fail(Fault.KeyCountNotPositive);
        else if (number >= call.Count - numberAt - 1)
            failed = call.Fail(Fault.Syntax);
        else
            keys = (int)number;
        int next = numberAt + 1 + keys;
        if (failed != Reply.Sent)
            return false;
        bool greatest = call.Is(next, "MAX"u8);
        long count = 1;
        if (!greatest && !call.Is(next, "MIN"u8))
            failed = call.Fail(Fault.Syntax);
        else if (next + 1 < call.Count && (next + 3 != call.Count || !call.Is(next + 1, "COUNT"u8)))
            failed = call.Fail(Fault.Syntax);
        else if (next + 1 < call.Count && (!call.TryInt64(next + 2, out count) || count < 1))
            failed = call.Fail(Fault.TakeCountNotPositive);
        take = new SortedTake(greatest, many: true, count);
        return failed == Reply.Sent;
    }
}
