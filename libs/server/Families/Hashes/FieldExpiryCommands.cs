using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;

namespace Garnet.Server.Families.Hashes;

/// <summary>Expiry of single fields of a hash, as Redis has it since 7.4: HEXPIRE, HTTL, HPERSIST and their relatives.</summary>
internal static class FieldExpiryCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<HExpire>();
        table.Add<HPExpire>();
        table.Add<HExpireAt>();
        table.Add<HPExpireAt>();
        table.Add<HPersist>();
        table.Add<HTtl>();
        table.Add<HPTtl>();
        table.Add<HExpireTime>();
        table.Add<HPExpireTime>();
        table.Add<HGetEx>();
        table.Add<HSetEx>();
        table.Add<HGetDel>();
    }

    internal static CommandSpec Change(string name, string time, string summary) =>
        HashCommands.Spec(name, -6, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW UPDATE",
            $"key {time} [NX | XX | GT | LT] FIELDS numfields field [field ...]", summary)
            with { Since = "7.4.0", Complexity = "O(N)", Event = new("hexpire", NotifyClasses.Hash) };

    internal static CommandSpec Ask(string name, string summary) =>
        HashCommands.Spec(name, -5, CommandFlags.ReadOnly | CommandFlags.Fast, "RO ACCESS",
            "key FIELDS numfields field [field ...]", summary) with { Since = "7.4.0", Complexity = "O(N)" };
}

internal readonly struct HExpire : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HEXPIRE", "seconds", "Sets the expiry of fields in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.Hash, inSeconds: true, absolute: false);
}

internal readonly struct HPExpire : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HPEXPIRE", "milliseconds", "Sets the expiry of fields in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.Hash, inSeconds: false, absolute: false);
}

internal readonly struct HExpireAt : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HEXPIREAT", "unix-time-seconds", "Sets the expiry of fields to a time in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.Hash, inSeconds: true, absolute: true);
}

internal readonly struct HPExpireAt : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HPEXPIREAT", "unix-time-milliseconds", "Sets the expiry of fields to a time in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Expire(ref call, EntryWords.Hash, inSeconds: false, absolute: true);
}

internal readonly struct HPersist : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HPERSIST", -5, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key FIELDS numfields field [field ...]", "Takes the expiry of fields away.") with { Since = "7.4.0", Complexity = "O(N)", Event = new("hpersist", NotifyClasses.Hash) };

    public static Reply Run(ref Call call) => EntryExpiry.Persist(ref call, EntryWords.Hash);
}

internal readonly struct HTtl : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HTTL", "Returns how long fields still have, in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.Hash, inSeconds: true, absolute: false);
}

internal readonly struct HPTtl : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HPTTL", "Returns how long fields still have, in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.Hash, inSeconds: false, absolute: false);
}

internal readonly struct HExpireTime : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HEXPIRETIME", "Returns the expiry of fields, in seconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.Hash, inSeconds: true, absolute: true);
}

internal readonly struct HPExpireTime : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HPEXPIRETIME", "Returns the expiry of fields, in milliseconds.");

    public static Reply Run(ref Call call) => EntryExpiry.Tell(ref call, EntryWords.Hash, inSeconds: false, absolute: true);
}
