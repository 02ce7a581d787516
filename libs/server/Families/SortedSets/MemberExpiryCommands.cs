using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>
/// Expiry of single members of a sorted set, as microsoft/garnet has it: ZEXPIRE, ZTTL, ZPERSIST and their relatives, ZCOLLECT. A new
/// score takes the expiry away (also if it is the old one), ZINCRBY keeps it, what ZADD's conditions refuse stays as it is.
/// </summary>
internal static class MemberExpiryCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ZExpire>();
        table.Add<ZPExpire>();
        table.Add<ZExpireAt>();
        table.Add<ZPExpireAt>();
        table.Add<ZPersist>();
        table.Add<ZTtl>();
        table.Add<ZPTtl>();
        table.Add<ZExpireTime>();
        table.Add<ZPExpireTime>();
        table.Add<ZCollect>();
    }

    internal static CommandSpec Change(string name, string time, string summary) =>
        SortedSetCommands.Spec(name, -6, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW UPDATE",
            $"key {time} [NX | XX | GT | LT] MEMBERS nummembers member [member ...]", summary) with
        {
            Since = "1.0.0", Complexity = "O(N*log(M)) with N members given and M in the set",
            Event = new("zexpire", NotifyClasses.SortedSet),
        };

    internal static CommandSpec Ask(string name, string summary) =>
        SortedSetCommands.Spec(name, -5, SortedSetCommands.ReadFast, "RO ACCESS", "key MEMBERS nummembers member [member ...]", summary)
            with { Since = "1.0.0", Complexity = "O(N)" };
}

internal readonly struct ZExpire : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Change("ZEXPIRE", "seconds", "Sets the expiry of members of a sorted set in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.SortedSet, inSeconds: true, absolute: false);
}

internal readonly struct ZPExpire : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Change("ZPEXPIRE", "milliseconds", "Sets the expiry of members of a sorted set in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.SortedSet, inSeconds: false, absolute: false);
}

internal readonly struct ZExpireAt : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Change("ZEXPIREAT", "unix-time-seconds", "Sets the expiry of members of a sorted set to a time in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.SortedSet, inSeconds: true, absolute: true);
}

internal readonly struct ZPExpireAt : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Change("ZPEXPIREAT", "unix-time-milliseconds", "Sets the expiry of members of a sorted set to a time in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.SortedSet, inSeconds: false, absolute: true);
}

internal readonly struct ZPersist : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZPERSIST", -5, SortedSetCommands.WriteFast, "RW UPDATE", "key MEMBERS nummembers member [member ...]", "Takes the expiry of members of a sorted set away.") with { Since = "1.0.0", Complexity = "O(N*log(M)) with N members given and M in the set",
            Event = new("zpersist", NotifyClasses.SortedSet) };

    public static Reply Run(ref Call call) => EntryExpiry.Persist(ref call, EntryWords.SortedSet);
}

internal readonly struct ZTtl : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Ask("ZTTL", "Returns how long members of a sorted set still have, in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.SortedSet, inSeconds: true, absolute: false);
}

internal readonly struct ZPTtl : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Ask("ZPTTL", "Returns how long members of a sorted set still have, in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.SortedSet, inSeconds: false, absolute: false);
}

internal readonly struct ZExpireTime : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Ask("ZEXPIRETIME", "Returns the expiry of members of a sorted set, in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.SortedSet, inSeconds: true, absolute: true);
}

internal readonly struct ZPExpireTime : ICommand
{
    public static CommandSpec Spec => MemberExpiryCommands.Ask("ZPEXPIRETIME", "Returns the expiry of members of a sorted set, in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.SortedSet, inSeconds: false, absolute: true);
}

/// <summary>
/// Removes due members at once, which happens by itself within some ticks. With <c>*</c> the walk over all databases, which does that, is asked
/// for, and the reply does not wait for it.
/// </summary>
internal readonly struct ZCollect : ICommand
{
    public static CommandSpec Spec => SortedSetCommands.Spec("ZCOLLECT", -2, SortedSetCommands.WriteSlow, "RW DELETE", "key [key ...]", "Removes members of sorted sets whose time has come; * stands for all keys.") with { Since = "1.0.0", Complexity = "O(N*log(M)) with N due members and M in the sets", Keys = KeySpec.All with { Usage = "RW DELETE" } };

    public static Reply Run(ref Call call)
    {
        if (call.Count == 2 && call.Is(1, "*"u8))
        {
            call.Server.EntryReaper.Wake();
            return call.Ok();
        }

        for (int i = 1; i < call.Count; i++)
        {
            KeyRef key = call.KeyAt(i);
            var kind = default(CountLook);
            if (call.Session.Examine(in key, ref kind, quiet: true) != Outcome.NotFound && kind.Kind != RecordKind.SortedSet)
                return call.Fail(Fault.WrongType);
        }

        for (int i = 1; i < call.Count; i++)
            SortedEdits.RemoveDue(call.Session, call.KeyAt(i));
        return call.Ok();
    }
}
