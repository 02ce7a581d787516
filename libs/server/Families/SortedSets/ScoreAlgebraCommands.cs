using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>Commands on several sorted sets: ZUNION, ZINTER, ZDIFF, what stores them, ZINTERCARD, ZRANGESTORE.</summary>
internal static class ScoreAlgebraCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ZUnion>();
        table.Add<ZInter>();
        table.Add<ZDiff>();
        table.Add<ZUnionStore>();
        table.Add<ZInterStore>();
        table.Add<ZDiffStore>();
        table.Add<ZInterCard>();
        table.Add<ZRangeStore>();
    }

    internal static CommandSpec Read(string name, string summary, string options) =>
        SortedSetCommands.Spec(name, -3, SortedSetCommands.ReadSlow | CommandFlags.MovableKeys, "",
            $"numkeys key [key ...] {options}[WITHSCORES]", summary)
            with { Since = "6.2.0", Complexity = "O(N)", Keys = new KeySpec(2, -1, 1) { CountArg = 1, Usage = "RO ACCESS" } };

    internal static CommandSpec Store(string name, string summary, string options) =>
        SortedSetCommands.Spec(name, -4, SortedSetCommands.WriteSlow | CommandFlags.DenyOom | CommandFlags.MovableKeys, "",
            $"destination numkeys key [key ...] {options}".TrimEnd(), summary)
            with { Since = "2.0.0", Complexity = "O(N)", Keys = new KeySpec(3, -1, 1) { CountArg = 2, Usage = "RO ACCESS", Target = 1 } };

    /// <summary>Runs a command with its number of keys at an argument; the destination, if any, stands before it.</summary>
    internal static Reply Run(ref Call call, SetOperation operation, int numberAt)
    {
        bool stores = numberAt == 2;
        if (!TryKeys(ref call, numberAt, out int count, out Reply failed))
            return failed;
        var options = new ScoreOptions { Weights = [] };
        if (!options.TryParse(ref call, numberAt + 1 + count, count, operation, !stores, out failed))
            return failed;
        KeyRef[] keys = ManyCommands.Rent(ref call, numberAt + 1, 1, count);
        KeyRef target = stores ? call.KeyAt(1) : default; // hashed now: the keys' place is not fixed
        Span<KeyRef> sources = keys.AsSpan(0, count);
        KeyRef[] locked = stores ? [.. sources, target] : [.. sources];
        using var algebra = new MemberAlgebra(call.Session, sources, operation)
            { Scores = new ScoreRule(options.Aggregate, options.Weights) };
        call.Session.Lock(locked);
        bool isDone = algebra.TryRun();
        Outcome outcome = isDone && stores ? Keep(ref call, in target, algebra.Found()) : Outcome.Done;
        call.Session.Unlock();
        ManyCommands.Return(keys);
        return !isDone ? call.Fail(Fault.WrongType)
            : outcome != Outcome.Done ? call.From(outcome)
            : stores ? call.Int(algebra.Count)
            : Show(ref call, algebra.Found(), options.WithScores);
    }

    /// <summary>Reads the number of keys and looks at their kinds, which come before the options; on false the error has been written.</summary>
    internal static bool TryKeys(ref Call call, int numberAt, out int count, out Reply failed)
    {
        count = 0;
        failed = Reply.Failed;
        if (!call.TryInt64(numberAt, out long number))
        {
            call.Fail(Fault.NotAnInteger);
            return false;
        }

        if (number < 1)
        {
            call.FailText("ERR at least 1 input key is needed for " +
                $"'{call.Server.Commands.Specs[call.Client.LastCommand].Name.ToLowerInvariant()}' command");
            return false;
        }

        if (number > call.Count - numberAt - 1)
        {
            call.Fail(Fault.Syntax);
            return false;
        }

        count = (int)number;
        for (int i = numberAt + 1; i <= numberAt + count; i++)
        {
            KeyRef key = call.KeyAt(i);
            var look = default(CountLook);
            if (call.Session.Examine(in key, ref look, quiet: true) == Outcome.NotFound
                || look.Kind is RecordKind.SortedSet or RecordKind.Set)
                continue;
            call.Fail(Fault.WrongType);
            return false;
        }

        return true;
    }

    /// <summary>Puts scored members in the place of whatever is under the key.</summary>
    internal static Outcome Keep(ref Call call, in KeyRef target, in Operands members)
    {
        using var replacing = new Replacing(call.Session, target);
        if (!replacing.TryBegin(members.EncodedBytes(), 1, members.EncodedBytes() + ((long)members.Count * NumberText.DoubleBytesMax)))
            return Outcome.OutOfMemory;
        if (members.Count == 0)
            return replacing.End(Outcome.Done);
        var put = new SortedSetPut { Scored = members, Limits = SortedSetCommands.Limits(ref call) };
        return replacing.End(call.Session.Edit(in target, ref put));
    }

    private static Reply Show(ref Call call, in Operands members, bool withScores)
    {
        var list = new ScoreList(members);
        list.Sort();
        call.Out.Array(withScores && !call.Out.Resp3 ? list.Count * 2 : list.Count);
        for (int i = 0; i < list.Count; i++)
        {
            if (withScores && call.Out.Resp3)
                call.Out.Array(2);
            call.Out.Bulk(list.MemberAt(i));
            if (withScores)
                call.Out.Double(list.ScoreAt(i));
        }

        return Reply.Sent;
    }
}

/// <summary>WEIGHTS, AGGREGATE, WITHSCORES.</summary>
internal struct ScoreOptions
{
    internal double[] Weights;
    internal ScoreAggregate Aggregate;
    internal bool WithScores;

    internal bool TryParse(ref Call call, int first, int keys, SetOperation operation, bool shows, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = first; i < call.Count && failed == Reply.Sent; i++)
        {
            if (operation != SetOperation.Difference && call.Count - i > keys && call.Is(i, "WEIGHTS"u8))
                failed = TakeWeights(ref call, ref i, keys);
            else if (operation != SetOperation.Difference && i + 1 < call.Count && call.Is(i, "AGGREGATE"u8)
                && TryAggregate(ref call, i + 1))
                i++;
            else if (shows && call.Is(i, "WITHSCORES"u8))
                WithScores = true;
            else
                failed = call.Fail(Fault.Syntax);
        }

        return failed == Reply.Sent;
    }

    private Reply TakeWeights(ref Call call, ref int index, int keys)
    {
        Weights = new double[keys];
        foreach (ref double weight in Weights.AsSpan())
        {
            if (!NumberText.TryDouble(call[++index], out weight))
                return call.FailBytes("ERR weight value is not a float"u8);
        }

        return Reply.Sent;
    }

    private bool TryAggregate(ref Call call, int index)
    {
        Aggregate = call.Is(index, "MIN"u8) ? ScoreAggregate.Min
            : call.Is(index, "MAX"u8) ? ScoreAggregate.Max
            : call.Is(index, "COUNT"u8) ? ScoreAggregate.Count
            : ScoreAggregate.Sum;
        return Aggregate != ScoreAggregate.Sum || call.Is(index, "SUM"u8);
    }
}

internal readonly struct ZUnion : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Read("ZUNION", "Returns the members of any of the sorted sets.", "[WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT] ");

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Union, 1);
}

internal readonly struct ZInter : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Read("ZINTER", "Returns the members that all sorted sets have.", "[WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT] ");

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Intersection, 1);
}

internal readonly struct ZDiff : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Read("ZDIFF", "Returns the members of the first sorted set that no other has.", "");

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Difference, 1);
}

internal readonly struct ZUnionStore : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Store("ZUNIONSTORE", "Stores the members of any of the sorted sets.", "[WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT]") with { Event = new("zunionstore", NotifyClasses.SortedSet) { Replaces = true } };

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Union, 2);
}

internal readonly struct ZInterStore : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Store("ZINTERSTORE", "Stores the members that all sorted sets have.", "[WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX | COUNT]") with { Event = new("zinterstore", NotifyClasses.SortedSet) { Replaces = true } };

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Intersection, 2);
}

internal readonly struct ZDiffStore : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Store("ZDIFFSTORE", "Stores the members of the first sorted set that no other has.", "") with { Since = "6.2.0", Event = new("zdiffstore", NotifyClasses.SortedSet) { Replaces = true } };

    public static Reply Run(ref Call call) => ScoreAlgebraCommands.Run(ref call, SetOperation.Difference, 2);
}

internal readonly struct ZInterCard : ICommand
{
    public static CommandSpec Spec => ScoreAlgebraCommands.Read("ZINTERCARD", "Counts the members that all sorted sets have.", "") with { Since = "7.0.0", Syntax = "numkeys key [key ...] [LIMIT limit]" };

    public static Reply Run(ref Call call)
    {
        if (!ScoreAlgebraCommands.TryKeys(ref call, 1, out int count, out Reply failed))
            return failed;
        long limit = 0;
        for (int i = 2 + count; i < call.Count; i += 2)
        {
            if (i + 1 == call.Count || !call.Is(i, "LIMIT"u8))
                return call.Fail(Fault.Syntax);
            if (!call.TryInt64(i + 1, out limit) || limit < 0)
                return call.Fail(Fault.LimitNegative);
        }

        KeyRef[] keys = ManyCommands.Rent(ref call, 2, 1, count);
        using var algebra = new MemberAlgebra(call.Session, keys.AsSpan(0, count), SetOperation.Intersection)
            { Scores = default(ScoreRule), Limit = limit, OnlyCounts = true };
        call.Session.Lock(keys.AsSpan(0, count));
        bool isDone = algebra.TryRun();
        call.Session.Unlock();
        ManyCommands.Return(keys);
        return isDone ? call.Int(algebra.Count) : call.Fail(Fault.WrongType);
    }
}

internal readonly struct ZRangeStore : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZRANGESTORE", -5, SortedSetCommands.WriteSlow | CommandFlags.DenyOom, "", "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]", "Stores a range of members in another key.") with { Since = "6.2.0", Complexity = "O(log(N)+M)", Keys = KeySpec.Two with { Usage = "OW UPDATE", RestUsage = "RO ACCESS" }, Event = new("zrangestore", NotifyClasses.SortedSet) { Replaces = true } };

    public static Reply Run(ref Call call)
    {
        if (!SortRangeCommands.TryParse(ref call, 3, new RangeSyntax { Modern = true }, out SortRange range, out _, out Reply failed))
            return failed;
        KeyRef target = call.Key, source = call.KeyAt(2);
        Span<KeyRef> both = [target, source];
        var copy = new RangeCopy { Range = range };
        Outcome outcome;
        try
        {
            call.Session.Lock(both);
            call.Session.Examine(in source, ref copy);
            outcome = copy.WrongKind ? Outcome.Done : ScoreAlgebraCommands.Keep(ref call, in target, OperandText.Read(copy.Found));
            call.Session.Unlock();
        }
        finally
        {
            copy.Found.Free(); // common.Q1
        }

        if (copy.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? call.Int(copy.Count) : call.From(outcome);
    }

    private struct RangeCopy : IExamine
    {
        internal SortRange Range;
        internal ByteQueue Found;
        internal long Count;
        internal bool WrongKind;

        public unsafe void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.SortedSet;
            if (WrongKind)
                return;
            HiddenRanks hidden = HiddenRanks.Of(ref record);
            (long rank, Count) = Range.Resolve(ref record, hidden);
            if (Count == 0)
                return;
            var walk = default(SortedWalk);
            walk.Begin(ref record, rank, hidden);
            for (long i = 0; i < Count && walk.Next(ref record); i++)
            {
                double score = walk.Score;
                OperandText.Append(ref Found, new ReadOnlySpan<byte>(&score, sizeof(double)), walk.Span);
            }
        }
    }
}
