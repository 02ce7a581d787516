using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>When keys end: EXPIRE, TTL, PERSIST and their relatives.</summary>
internal static class ExpiryCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Expire>();
        table.Add<PExpire>();
        table.Add<ExpireAt>();
        table.Add<PExpireAt>();
        table.Add<Persist>();
        table.Add<Ttl>();
        table.Add<PTtl>();
        table.Add<ExpireTime>();
        table.Add<PExpireTime>();
    }

    internal static CommandSpec SetSpec(string name, string time, string since) =>
        KeyCommands.Spec(name, -3, CommandFlags.Write | CommandFlags.Fast, KeySpec.One, "RW UPDATE", $"key {time} [NX | XX | GT | LT]",
            "Sets when a key expires.") with { Since = since };

    internal static CommandSpec GetSpec(string name, string since) =>
        KeyCommands.Spec(name, 2, CommandFlags.ReadOnly | CommandFlags.Fast, KeySpec.One with { HeadsUpTo = int.MaxValue },
            "RO ACCESS", "key",
            "Returns when a key expires: -1 never, -2 no such key.") with { Since = since };

    internal static Reply Change(ref Call call, bool inSeconds, bool absolute)
    {
        if (!TryConditions(ref call, out ExpireCondition condition, out Reply failed))
            return failed;
        if (!call.TryInt64(2, out long time))
            return call.Fail(Fault.NotAnInteger);
        if (inSeconds && time is > long.MaxValue / 1000 or < long.MinValue / 1000)
            return ExpiryTime.Refuse(ref call);
        long unixMs = inSeconds ? time * 1000 : time;
        if (!absolute && unixMs > long.MaxValue - call.NowMs)
            return ExpiryTime.Refuse(ref call);
        unixMs += absolute ? 0 : call.NowMs;
        KeyRef key = call.Key;
        // 0 means "no expiry" in a record, and any time up to now removes the key: 1 says the same as any past time.
        var change = new ChangeExpiry { ExpireAtMs = Math.Max(unixMs, 1), NowMs = call.NowMs, Condition = condition };
        Outcome outcome = ModifyTime(ref call, in key, ref change);
        return outcome is Outcome.OutOfMemory or Outcome.TooLarge ? call.From(outcome) : call.Int(change.Applied ? 1 : 0);
    }

    /// <summary>
    /// Changes a key's time. A short record has no place for one before it is written anew, and the old one is free only later; Redis refuses no such change for want of memory.
    /// </summary>
    internal static Outcome ModifyTime<T>(ref Call call, in KeyRef key, ref T change) where T : struct, IModify
    {
        Outcome outcome = call.Session.Modify(in key, ref change);
        if (outcome != Outcome.OutOfMemory)
            return outcome;
        using StepRoom.Assurance assured = call.Session.Room.Assure();
        if (!assured.IsNew)
            return outcome;
        call.Session.Lock([key]);
        outcome = call.Session.Modify(in key, ref change);
        call.Session.Unlock();
        return outcome;
    }

    internal static Reply Show(ref Call call, bool inSeconds, bool absolute)
    {
        KeyRef key = call.Key;
        var look = default(FieldsLook);
        if (call.Session.Read(in key, ref look, quiet: true) != Outcome.Done)
            return call.Int(-2);
        if (look.ExpireAtMs == 0)
            return call.Int(-1);
        long time = absolute ? look.ExpireAtMs : Math.Max(look.ExpireAtMs - call.NowMs, 0);
        return call.Int(inSeconds ? (time / 1000) + (time % 1000 >= 500 ? 1 : 0) : time); // no sum that could overflow
    }

    private static bool TryConditions(ref Call call, out ExpireCondition condition, out Reply failed)
    {
        condition = ExpireCondition.Always;
        failed = Reply.Sent;
        for (int i = 3; i < call.Count; i++)
        {
            ExpireCondition one = call.Is(i, "NX"u8) ? ExpireCondition.IfNone
                : call.Is(i, "XX"u8) ? ExpireCondition.IfAny
                : call.Is(i, "GT"u8) ? ExpireCondition.IfLater
                : call.Is(i, "LT"u8) ? ExpireCondition.IfEarlier
                : ExpireCondition.Always;
            if (one == ExpireCondition.Always)
            {
                failed = call.FailBytes([.. "ERR Unsupported option "u8, .. call.Shown(i)]);
                return false;
            }

            condition |= one;
        }

        const ExpireCondition BothWays = ExpireCondition.IfLater | ExpireCondition.IfEarlier;
        if ((condition & ExpireCondition.IfNone) != 0 && condition != ExpireCondition.IfNone)
            failed = call.FailBytes("ERR NX and XX, GT or LT options at the same time are not compatible"u8);
        else if ((condition & BothWays) == BothWays)
            failed = call.FailBytes("ERR GT and LT options at the same time are not compatible"u8);
        return failed == Reply.Sent;
    }
}

internal readonly struct Expire : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.SetSpec("EXPIRE", "seconds", "1.0.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Change(ref call, inSeconds: true, absolute: false);
}

internal readonly struct PExpire : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.SetSpec("PEXPIRE", "milliseconds", "2.6.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Change(ref call, inSeconds: false, absolute: false);
}

internal readonly struct ExpireAt : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.SetSpec("EXPIREAT", "unix-time-seconds", "1.2.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Change(ref call, inSeconds: true, absolute: true);
}

internal readonly struct PExpireAt : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.SetSpec("PEXPIREAT", "unix-time-milliseconds", "2.6.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Change(ref call, inSeconds: false, absolute: true);
}

internal readonly struct Persist : ICommand
{
    public static CommandSpec Spec => KeyCommands.Spec("PERSIST", 2, CommandFlags.Write | CommandFlags.Fast, KeySpec.One, "RW UPDATE", "key", "Removes the expiry of a key.") with { Since = "2.2.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var change = new ChangeExpiry { ExpireAtMs = 0, NowMs = call.NowMs, Condition = ExpireCondition.IfAny };
        Outcome outcome = ExpiryCommands.ModifyTime(ref call, in key, ref change);
        return outcome is Outcome.OutOfMemory or Outcome.TooLarge ? call.From(outcome) : call.Int(change.Applied ? 1 : 0);
    }
}

internal readonly struct Ttl : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.GetSpec("TTL", "1.0.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Show(ref call, inSeconds: true, absolute: false);
}

internal readonly struct PTtl : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.GetSpec("PTTL", "2.6.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Show(ref call, inSeconds: false, absolute: false);
}

internal readonly struct ExpireTime : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.GetSpec("EXPIRETIME", "7.0.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Show(ref call, inSeconds: true, absolute: true);
}

internal readonly struct PExpireTime : ICommand
{
    public static CommandSpec Spec => ExpiryCommands.GetSpec("PEXPIRETIME", "7.0.0");

    public static Reply Run(ref Call call) => ExpiryCommands.Show(ref call, inSeconds: false, absolute: true);
}
