using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.Sets;
using Tsavorite;

namespace Garnet.Server.Families.Sets;

/// <summary>What the commands on several sets share.</summary>
internal static class SetAlgebraCommands
{
    internal static CommandSpec Read(string name, string summary) =>
        SetCommands.Spec(name, -2, CommandFlags.ReadOnly | CommandFlags.Quick, "", "key [key ...]", summary)
            with { Keys = KeySpec.All with { Usage = "RO ACCESS" }, Complexity = "O(N)", Tips = "nondeterministic_output_order" };

    internal static CommandSpec Store(string name, string summary) =>
        SetCommands.Spec(name, -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, "", "destination key [key ...]", summary)
            with { Keys = KeySpec.All with { Usage = "OW UPDATE", RestUsage = "RO ACCESS" }, Complexity = "O(N)" };

    /// <summary>Replies the members.</summary>
    internal static Reply Show(ref Call call, SetOperation operation)
    {
        int count = call.Count - 1;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        using var algebra = new MemberAlgebra(call.Session, keys.AsSpan(0, count), operation);
        call.Session.Lock(keys.AsSpan(0, count));
        bool isDone = algebra.TryRun();
        call.Session.Unlock();
        ManyCommands.Return(keys);
        if (!isDone)
            return call.Fail(Fault.WrongType);
        Operands members = algebra.Found();
        call.Out.Set(members.Count);
        for (Operands.Reader reader = members.Read(); reader.Next();)
            call.Out.Bulk(reader.Span);
        return Reply.Sent;
    }

    /// <summary>Puts the members in the place of whatever is under the destination; replies how many.</summary>
    internal static Reply Keep(ref Call call, SetOperation operation)
    {
        int count = call.Count - 1;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        using var algebra = new MemberAlgebra(call.Session, keys.AsSpan(1, count - 1), operation);
        call.Session.Lock(keys.AsSpan(0, count));
        bool isDone = algebra.TryRun();
        Outcome outcome = isDone ? Replace(ref call, in keys[0], algebra.Found()) : Outcome.Done;
        call.Session.Unlock();
        ManyCommands.Return(keys);
        if (!isDone)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? call.Int(algebra.Count) : call.From(outcome);
    }

    internal static CommandSpec Card(string name, string options, string summary) =>
        SetCommands.Spec(name, -3, CommandFlags.ReadOnly | CommandFlags.MovableKeys | CommandFlags.Quick, "",
            "numkeys key [key ...] " + options, summary)
            with { Complexity = "O(N)", Keys = new KeySpec(2, -1, 1) { CountArg = 1, Usage = "RO ACCESS" } };

    /// <summary>Replies how many members there are.</summary>
    internal static Reply CountOf(ref Call call, SetOperation operation)
    {
        if (!call.TryInt64(1, out long count) || count < 1)
            return call.Fail(Fault.KeyCountNotPositive);
        if (count > call.Count - 2)
            return call.Fail(Fault.MoreKeysThanArguments);
        long limit = 0;
        for (int i = 2 + (int)count; i < call.Count; i++)
        {
            if (operation == SetOperation.Union && call.Is(i, "APPROX"u8))
                continue;
            if (i + 1 == call.Count || !call.Is(i, "LIMIT"u8))
                return call.Fail(Fault.Syntax);
            if (!call.TryInt64(++i, out limit) || limit < 0)
                return call.Fail(Fault.LimitNegative);
        }

        KeyRef[] keys = ManyCommands.Rent(ref call, 2, 1, (int)count);
        using var algebra = new MemberAlgebra(call.Session, keys.AsSpan(0, (int)count), operation) { Limit = limit, OnlyCounts = true };
        call.Session.Lock(keys.AsSpan(0, (int)count));
        bool isDone = algebra.TryRun();
        call.Session.Unlock();
        ManyCommands.Return(keys);
        return isDone ? call.Int(algebra.Count) : call.Fail(Fault.WrongType);
    }

    private static Outcome Replace(ref Call call, in KeyRef target, in Operands members)
    {
        using var replacing = new Replacing(call.Session, target);
        if (!replacing.TryBegin(members.EncodedBytes(), 1, members.EncodedBytes()))
            return Outcome.OutOfMemory;
        if (members.Count == 0)
            return replacing.End(Outcome.Done);
        SetAdd add = SetCommands.Adding(ref call, members);
        add.AreDistinct = true;
        return replacing.End(call.Session.Edit(in target, ref add));
    }
}

internal readonly struct SInter : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Read("SINTER", "Returns the members that all sets have.");

    public static Reply Run(ref Call call) => SetAlgebraCommands.Show(ref call, SetOperation.Intersection);
}

internal readonly struct SUnion : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Read("SUNION", "Returns the members that any of the sets has.");

    public static Reply Run(ref Call call) => SetAlgebraCommands.Show(ref call, SetOperation.Union);
}

internal readonly struct SDiff : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Read("SDIFF", "Returns the members of the first set that no other has.");

    public static Reply Run(ref Call call) => SetAlgebraCommands.Show(ref call, SetOperation.Difference);
}

internal readonly struct SInterStore : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Store("SINTERSTORE", "Stores the members that all sets have.") with { Keys = KeySpec.All with { Usage = "RW UPDATE", RestUsage = "RO ACCESS" }, Event = new("sinterstore", NotifyClasses.Set) { Replaces = true } };

    public static Reply Run(ref Call call) => SetAlgebraCommands.Keep(ref call, SetOperation.Intersection);
}

internal readonly struct SUnionStore : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Store("SUNIONSTORE", "Stores the members that any of the sets has.") with { Event = new("sunionstore", NotifyClasses.Set) { Replaces = true } };

    public static Reply Run(ref Call call) => SetAlgebraCommands.Keep(ref call, SetOperation.Union);
}

internal readonly struct SDiffStore : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Store("SDIFFSTORE", "Stores the members of the first set that no other has.") with { Event = new("sdiffstore", NotifyClasses.Set) { Replaces = true } };

    public static Reply Run(ref Call call) => SetAlgebraCommands.Keep(ref call, SetOperation.Difference);
}

internal readonly struct SInterCard : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Card("SINTERCARD", "[LIMIT limit]", "Counts the members that all sets have.") with { Since = "7.0.0" };

    public static Reply Run(ref Call call) => SetAlgebraCommands.CountOf(ref call, SetOperation.Intersection);
}

internal readonly struct SUnionCard : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Card("SUNIONCARD", "[APPROX] [LIMIT limit]", "Counts the members that any of the sets has; exactly, whatever is asked for.") with { Since = "8.10.0" };

    public static Reply Run(ref Call call) => SetAlgebraCommands.CountOf(ref call, SetOperation.Union);
}

internal readonly struct SDiffCard : ICommand
{
    public static CommandSpec Spec => SetAlgebraCommands.Card("SDIFFCARD", "[LIMIT limit]", "Counts the members of the first set that no other has.") with { Since = "8.10.0" };

    public static Reply Run(ref Call call) => SetAlgebraCommands.CountOf(ref call, SetOperation.Difference);
}
