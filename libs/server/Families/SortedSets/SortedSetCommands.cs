using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>Sorted sets: ZADD, ZRANGE and their relatives. This file has those on single members.</summary>
internal static unsafe class SortedSetCommands
{
    internal const CommandFlags ReadFast = CommandFlags.ReadOnly | CommandFlags.Fast;
    internal const CommandFlags ReadSlow = CommandFlags.ReadOnly | CommandFlags.Quick;
    internal const CommandFlags WriteFast = CommandFlags.Write | CommandFlags.Fast;
    internal const CommandFlags WriteSlow = CommandFlags.Write | CommandFlags.Quick;

    internal static void Register(CommandTable table)
    {
        table.Add<ZAdd>();
        table.Add<ZIncrBy>();
        table.Add<ZRem>();
        table.Add<ZScore>();
        table.Add<ZMScore>();
        table.Add<ZCard>();
        table.Add<ZRank>();
        table.Add<ZRevRank>();
        table.Add<ZRandMember>();
        table.Add<ZScan>();
        SortRangeCommands.Register(table);
        ScoreAlgebraCommands.Register(table);
        MemberExpiryCommands.Register(table);
    }

    internal static void Replay(ReplayTable table)
    {
        table.AddEdit<SortedSetPut>();
        table.AddEdit<SortedSetCut>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage })
            { Group = "sorted-set", Syntax = syntax, Summary = summary, Since = "1.2.0", Complexity = "O(log(N))" };

    internal static CollectionLimits Limits(ref Call call) => CollectionLimits.OfSortedSets(call.Server.Settings.Encoding);

    /// <summary>Runs the operation; on false an error has been written.</summary>
    internal static bool TryPut(ref Call call, ref SortedSetPut put, out Reply failed)
    {
        bool onlyIfThere = (put.Options & (PutScore.IfPresent | PutScore.Add)) == PutScore.IfPresent;
        if (CollectionCalls.ChangesNothing(ref call, EntryCost.OfSortedSets, onlyIfThere, out failed))
            return false;
        using WriteRoom room = WriteRoom.For(ref call, EntryCost.OfSortedSets);
        Outcome outcome = room.IsThere ? SortedSetCalls.Edit(ref call, ref put) : Outcome.OutOfMemory;
        failed = put.WrongKind ? call.Fail(Fault.WrongType)
            : put.NotANumber ? call.FailBytes("ERR resulting score is not a number (NaN)"u8)
            : outcome is Outcome.Done or Outcome.Unchanged ? Reply.Sent
            : call.From(outcome);
        return failed == Reply.Sent;
    }

    internal static Reply Rank(ref Call call, bool reverse)
    {
        bool withScore = call.Count == 4;
        if (call.Count > 4 || (withScore && !call.Is(3, "WITHSCORE"u8)))
            return call.Fail(Fault.Syntax);
        var look = new RankLook { Member = call.Args[2], Reverse = reverse };
        CollectionCalls.Examine(ref call, ref look);
        if (look.WrongKind)
            return call.Fail(Fault.WrongType);
        if (!look.Found)
        {
            if (withScore)
                call.Out.NullArray();
            else
                call.Out.Null();
            return Reply.Sent;
        }

        if (withScore)
            call.Out.Array(2);
        call.Out.Int(look.Rank);
        if (withScore)
            call.Out.Double(look.Score);
        return Reply.Sent;
    }
}

/// <summary>A member's score and rank.</summary>
internal unsafe struct RankLook : IExamine
{
    internal Arg Member;
    internal bool Reverse;
    internal bool ScoreOnly;
    internal bool WrongKind;
    internal bool Found;
    internal double Score;
    internal long Rank;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.SortedSet;
        Found = !WrongKind && SortedForm.Find(ref record, Member.Bytes, Member.Length, out Score);
        if (!Found || ScoreOnly)
            return;
        HiddenRanks hidden = HiddenRanks.Of(ref record);
        Rank = SortedForm.CountBelow(ref record, SortBound.Of(Score, Member.Bytes, Member.Length), hidden);
        if (Reverse)
            Rank = Root.Count(record.Value) - hidden.Count - 1 - Rank;
    }
}

internal readonly struct ZAdd : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZADD", -4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW UPDATE", "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]", "Adds members to a sorted set, or changes their scores.") with { Member = 3, Event = new("zadd", NotifyClasses.SortedSet) { Word = "INCR", BehindWord = 2, WithWord = "zincr" } };

    public static unsafe Reply Run(ref Call call)
    {
        PutScore options = PutScore.None;
        bool countsChanges = false;
        int first = 2;
        for (; first < call.Count; first++)
        {
            PutScore one = call.Is(first, "NX"u8)
                ? PutScore.IfAbsent
                : call.Is(first, "XX"u8) ? PutScore.IfPresent : call.Is(first, "GT"u8) ? PutScore.IfGreater
                : call.Is(first, "LT"u8) ? PutScore.IfLess : call.Is(first, "INCR"u8) ? PutScore.Add : PutScore.None;
            bool changes = call.Is(first, "CH"u8);
            if (one == PutScore.None && !changes)
                break;
            options |= one;
            countsChanges |= changes;
        }

        int left = call.Count - first;
        if (left == 0 || left % 2 != 0)
            return call.Fail(Fault.Syntax);
        if (!TryAgree(ref call, options, left, out Reply refused))
            return refused;
        for (int i = first; i < call.Count; i += 2)
        {
            if (!Garnet.Common.Bytes.NumberText.TryDouble(call[i], out _))
                return call.Fail(Fault.NotAFloat);
        }

        var put = new SortedSetPut
        {
            Pairs = new Operands(call.Args + first, left),
            Options = options,
            Limits = SortedSetCommands.Limits(ref call),
        };
        if (!SortedSetCommands.TryPut(ref call, ref put, out Reply failed))
            return failed;
        if ((options & PutScore.Add) == 0)
            return call.Int(put.Added + (countsChanges ? put.Updated : 0));
        if (!put.Applied)
            return call.Null();
        call.Out.Double(put.Score);
        return Reply.Sent;
    }

    private static bool TryAgree(ref Call call, PutScore options, int left, out Reply refused)
    {
        bool absent = (options & PutScore.IfAbsent) != 0, greater = (options & PutScore.IfGreater) != 0;
        bool less = (options & PutScore.IfLess) != 0;
        refused = Reply.Sent;
        if (absent && (options & PutScore.IfPresent) != 0)
            refused = call.FailBytes("ERR XX and NX options at the same time are not compatible"u8);
        else if ((absent && (greater || less)) || (greater && less))
            refused = call.FailBytes("ERR GT, LT, and/or NX options at the same time are not compatible"u8);
        else if ((options & PutScore.Add) != 0 && left > 2)
            refused = call.FailBytes("ERR INCR option supports a single increment-element pair"u8);
        return refused == Reply.Sent;
    }
}

internal readonly struct ZIncrBy : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZINCRBY", 4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW ACCESS UPDATE", "key increment member", "Increments the score of a member; a missing one counts as 0.") with { Member = 3, Event = new("zincr", NotifyClasses.SortedSet) };

    public static unsafe Reply Run(ref Call call)
    {
        if (!Garnet.Common.Bytes.NumberText.TryDouble(call[2], out _))
            return call.Fail(Fault.NotAFloat);
        var put = new SortedSetPut
        {
            Pairs = new Operands(call.Args + 2, 2),
            Options = PutScore.Add | PutScore.KeepExpiry,
            Limits = SortedSetCommands.Limits(ref call),
        };
        if (!SortedSetCommands.TryPut(ref call, ref put, out Reply failed))
            return failed;
        call.Out.Double(put.Score);
        return Reply.Sent;
    }
}

internal readonly struct ZRem : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZREM", -3, SortedSetCommands.WriteFast, "RW DELETE", "key member [member ...]", "Removes members of a sorted set; an empty set is removed.") with { Member = 2, Event = new("zrem", NotifyClasses.SortedSet) { Empties = true } };

    public static unsafe Reply Run(ref Call call)
    {
        var remove = new RemoveMembers { Kind = RecordKind.SortedSet, Keys = new Operands(call.Args + 2, call.Count - 2) };
        CollectionCalls.Edit(ref call, ref remove);
        return remove.WrongKind ? call.Fail(Fault.WrongType) : call.Int(remove.Removed);
    }
}

internal readonly struct ZScore : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZSCORE", 3, SortedSetCommands.ReadFast, "RO ACCESS", "key member", "Returns the score of a member.") with { Member = 2, Complexity = "O(1)" };

    public static unsafe Reply Run(ref Call call)
    {
        var look = new RankLook { Member = call.Args[2], ScoreOnly = true };
        CollectionCalls.Examine(ref call, ref look);
        if (look.WrongKind || !look.Found)
            return look.WrongKind ? call.Fail(Fault.WrongType) : call.Null();
        call.Out.Double(look.Score);
        return Reply.Sent;
    }
}

internal readonly struct ZMScore : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZMSCORE", -3, SortedSetCommands.ReadFast, "RO ACCESS", "key member [member ...]", "Returns the scores of members.") with { Member = 2, Since = "6.2.0", Complexity = "O(N)" };

    public static unsafe Reply Run(ref Call call)
    {
        int count = call.Count - 2;
        var look = new ScoresLook(call.Out, new Operands(call.Args + 2, count));
        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        call.Out.Array(count);
        for (int i = 0; i < count; i++)
            call.Out.Null();
        return Reply.Sent;
    }

    private unsafe struct ScoresLook(RespWriter to, Operands members) : IExamine
    {
        internal bool WrongKind;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.SortedSet;
            if (WrongKind)
                return;
            MembersAhead.Look(ref record, members);
            to.Array(members.Count);
            for (Operands.Reader reader = members.Read(); reader.Next();)
            {
                if (SortedForm.Find(ref record, reader.Bytes, reader.Length, out double score))
                    to.Double(score);
                else
                    to.Null();
            }
        }
    }
}

internal readonly struct ZCard : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZCARD", 2, SortedSetCommands.ReadFast, "RO", "key", "Returns the number of members of a sorted set.") with { Complexity = "O(1)" };

    public static Reply Run(ref Call call) => SortRangeCommands.Count(ref call, new SortRange { ByRank = true, Stop = -1 });
}

internal readonly struct ZRank : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZRANK", -3, SortedSetCommands.ReadFast, "RO ACCESS", "key member [WITHSCORE]", "Returns how many members stand below one.") with { Member = 2, Since = "2.0.0" };

    public static Reply Run(ref Call call) => SortedSetCommands.Rank(ref call, reverse: false);
}

internal readonly struct ZRevRank : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZREVRANK", -3, SortedSetCommands.ReadFast, "RO ACCESS", "key member [WITHSCORE]", "Returns how many members stand above one.") with { Member = 2, Since = "2.0.0" };

    public static Reply Run(ref Call call) => SortedSetCommands.Rank(ref call, reverse: true);
}

internal readonly struct ZRandMember : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZRANDMEMBER", -2, SortedSetCommands.ReadSlow, "RO ACCESS", "key [count [WITHSCORES]]", "Returns random members of a sorted set.") with { Since = "6.2.0", Complexity = "O(N)", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) => RandomChoice.Run(ref call, "WITHSCORES"u8, EntryForm.Scored, RecordKind.SortedSet);
}

internal readonly struct ZScan : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZSCAN", -3, SortedSetCommands.ReadSlow, "RO ACCESS", "key cursor [MATCH pattern] [COUNT count] [NOSCORES]", "Iterates over the members of a sorted set.") with { Since = "2.8.0", Complexity = "O(1)", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) => ScanPage.Run(ref call, RecordKind.SortedSet, EntryForm.Scored, "NOSCORES"u8);
}
