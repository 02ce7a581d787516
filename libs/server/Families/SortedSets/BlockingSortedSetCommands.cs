using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;

namespace Garnet.Server.Families.SortedSets;

/// <summary>Commands that wait for a sorted set to hold something: BZPOPMIN, BZPOPMAX, BZMPOP.</summary>
internal static class BlockingSortedSetCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<BZPopMin>();
        table.Add<BZPopMax>();
        table.Add<BZMPop>();
    }

    internal static CommandSpec Pop(string name, string summary) =>
        SortedSetCommands.Spec(name, -3, CommandFlags.Write | CommandFlags.NoScript | CommandFlags.Blocking | CommandFlags.Fast, "",
            "key [key ...] timeout", summary) with
        {
            Since = "5.0.0", Keys = new KeySpec(1, -2, 1) { Usage = "RW ACCESS DELETE" },
        };

    internal static Reply PopAny(ref Call call, bool greatest)
    {
        if (!BlockingCalls.TryUntil(ref call, call.Count - 1, out long untilMs, out Reply failed))
            return failed;
        return BlockingCalls.Take(ref call, 1, call.Count - 2, new SortedTake(greatest, many: false, count: 1), untilMs);
    }
}

internal readonly struct BZPopMin : ICommand
{
    public static CommandSpec Spec => BlockingSortedSetCommands.Pop("BZPOPMIN", "Removes the member with the smallest score and returns it; waits for one if need be.") with { Event = SortedTake.EventOf(greatest: false) };

    public static Reply Run(ref Call call) => BlockingSortedSetCommands.PopAny(ref call, greatest: false);
}

internal readonly struct BZPopMax : ICommand
{
    public static CommandSpec Spec => BlockingSortedSetCommands.Pop("BZPOPMAX", "Removes the member with the greatest score and returns it; waits for one if need be.") with { Event = SortedTake.EventOf(greatest: true) };

    public static Reply Run(ref Call call) => BlockingSortedSetCommands.PopAny(ref call, greatest: true);
}

internal readonly struct BZMPop : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("BZMPOP", -5, CommandFlags.Write | CommandFlags.Blocking | CommandFlags.MovableKeys, "", "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]", "Removes members of the first sorted set that is there and returns them; waits for one if need be.") with { Since = "7.0.0", Keys = new KeySpec(3, -1, 1) { CountArg = 2, Usage = "RW ACCESS DELETE" }, Event = new("zpopmin", NotifyClasses.SortedSet) { Empties = true, Word = "MAX", WithWord = "zpopmax" } };

    public static Reply Run(ref Call call)
    {
        if (!ZMPop.TryParse(ref call, 2, out int keys, out SortedTake take, out Reply failed))
            return failed;
        return BlockingCalls.TryUntil(ref call, 1, out long untilMs, out failed)
            ? BlockingCalls.Take(ref call, 3, keys, take, untilMs)
            : failed;
    }
}
