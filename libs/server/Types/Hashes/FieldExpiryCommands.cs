using Garnet.Server.Commands;
using Garnet.Server.Keys;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>Expiry of single fields of a hash, as Redis has it since 7.4: HEXPIRE, HTTL, HPERSIST and their relatives.</summary>
internal static class FieldExpiryCommands
{
    /// <summary>Later times do not fit Redis's encoding: 48 bits of milliseconds.</summary>
    internal const long ExpireAtMsMax = (1L << 48) - 2;

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
        HashCommands.Spec(name, -6, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, "RW UPDATE", $"key {time} [NX | XX | GT | LT] FIELDS numfields field [field ...]", summary) with { Since = "7.4.0", Complexity = "O(N)", Event = new("hexpire", NotifyClasses.Hash) };

    internal static CommandSpec Ask(string name, string summary) =>
        HashCommands.Spec(name, -5, CommandFlags.ReadOnly | CommandFlags.Fast, "RO ACCESS", "key FIELDS numfields field [field ...]", summary) with { Since = "7.4.0", Complexity = "O(N)" };

    /// <summary>HEXPIRE and its relatives.</summary>
    internal static Reply Expire(ref Call call, bool inSeconds, bool absolute)
    {
        if (!HasHash(ref call, out Reply failed))
            return failed;
        if (!call.TryInt64(2, out long time))
            return call.Fail(Fault.NotAnInteger);
        if (time < 0)
            return call.FailBytes("ERR invalid expire time, must be >= 0"u8);
        if ((inSeconds && time > ExpireAtMsMax / 1000) || (time = inSeconds ? time * 1000 : time) > ExpireAtMsMax - (absolute ? 0 : call.NowMs))
            return ExpiryTime.Refuse(ref call);
        ExpireCondition condition = call.Is(3, "NX"u8) ? ExpireCondition.IfNone : call.Is(3, "XX"u8) ? ExpireCondition.IfAny
            : call.Is(3, "GT"u8) ? ExpireCondition.IfLater : call.Is(3, "LT"u8) ? ExpireCondition.IfEarlier : ExpireCondition.Always;
        int at = condition == ExpireCondition.Always ? 3 : 4;
        if (!FieldList.TryRead(ref call, at, "ERR Parameter `numFields` should be greater than 0"u8, out FieldList fields, out failed))
            return failed;
        return Retime(ref call, fields, Math.Max(absolute ? time : time + call.NowMs, 1), condition);
    }

    /// <summary>Gives the fields another expiry and replies what became of each.</summary>
    internal static Reply Retime(ref Call call, in FieldList fields, long expireAtMs, ExpireCondition condition)
    {
        var answers = new long[fields.Count];
        System.Array.Fill(answers, FieldTimes.NotThere);
        var times = new FieldTimes(fields.Of(ref call), answers) { ExpireAtMs = expireAtMs, Condition = condition };
        KeyRef key = call.Key;
        call.Store.Lock([key]);
        call.Store.Examine(in key, ref times);
        Outcome outcome = times.Apply(call.Store, in key);
        call.Store.Unlock();
        if (times.WrongKind)
            return call.Fail(Fault.WrongType);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        call.Server.FieldReaper.Wake();
        return Show(ref call, answers);
    }

    /// <summary>HTTL and its relatives.</summary>
    internal static Reply Tell(ref Call call, bool inSeconds, bool absolute)
    {
        if (!HasHash(ref call, out Reply failed) || !FieldList.TryRead(ref call, 2, "ERR Number of fields must be a positive integer"u8, out FieldList fields, out failed))
            return failed;
        var answers = new long[fields.Count];
        System.Array.Fill(answers, FieldTimes.NotThere);
        var look = new TimesLook(fields.Of(ref call), answers, inSeconds, absolute);
        CollectionCalls.Examine(ref call, ref look);
        return look.WrongKind ? call.Fail(Fault.WrongType) : Show(ref call, answers);
    }

    /// <summary>False, and the error written, if the key holds something else than a hash, which comes before all other errors.</summary>
    internal static bool HasHash(ref Call call, out Reply failed)
    {
        var kind = default(CountLook);
        bool isOther = CollectionCalls.Examine(ref call, ref kind, quiet: true) != Outcome.NotFound && kind.Kind != RecordKind.Hash;
        failed = isOther ? call.Fail(Fault.WrongType) : Reply.Sent;
        return !isOther;
    }

    private static Reply Show(ref Call call, long[] answers)
    {
        call.Out.Array(answers.Length);
        foreach (long answer in answers)
            call.Out.Int(answer);
        return Reply.Sent;
    }

    private struct TimesLook(Operands fields, long[] answers, bool inSeconds, bool absolute) : IExamine
    {
        internal bool WrongKind;

        public unsafe void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.Hash;
            int index = 0;
            for (Operands.Reader reader = fields.Read(); !WrongKind && reader.Next(); index++)
            {
                if (!Members.Find(ref record, EntryForm.Pair, reader.Bytes, reader.Length, out Entry entry) || entry.IsDue(record.NowMs))
                    continue;
                long left = entry.ExpireAtMs - (absolute ? 0 : record.NowMs);
                answers[index] = entry.ExpireAtMs == 0 ? FieldTimes.NoExpiry : inSeconds ? (left + 999) / 1000 : left;
            }
        }
    }
}

internal readonly struct HExpire : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HEXPIRE", "seconds", "Sets the expiry of fields in seconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Expire(ref call, inSeconds: true, absolute: false);
}

internal readonly struct HPExpire : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HPEXPIRE", "milliseconds", "Sets the expiry of fields in milliseconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Expire(ref call, inSeconds: false, absolute: false);
}

internal readonly struct HExpireAt : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HEXPIREAT", "unix-time-seconds", "Sets the expiry of fields to a time in seconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Expire(ref call, inSeconds: true, absolute: true);
}

internal readonly struct HPExpireAt : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Change("HPEXPIREAT", "unix-time-milliseconds", "Sets the expiry of fields to a time in milliseconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Expire(ref call, inSeconds: false, absolute: true);
}

internal readonly struct HPersist : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HPERSIST", -5, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key FIELDS numfields field [field ...]", "Takes the expiry of fields away.") with { Since = "7.4.0", Complexity = "O(N)", Event = new("hpersist", NotifyClasses.Hash) };

    public static Reply Run(ref Call call)
    {
        if (!FieldExpiryCommands.HasHash(ref call, out Reply failed) || !FieldList.TryRead(ref call, 2, "ERR Number of fields must be a positive integer"u8, out FieldList fields, out failed))
            return failed;
        return FieldExpiryCommands.Retime(ref call, fields, 0, ExpireCondition.Always);
    }
}

internal readonly struct HTtl : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HTTL", "Returns how long fields still have, in seconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Tell(ref call, inSeconds: true, absolute: false);
}

internal readonly struct HPTtl : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HPTTL", "Returns how long fields still have, in milliseconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Tell(ref call, inSeconds: false, absolute: false);
}

internal readonly struct HExpireTime : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HEXPIRETIME", "Returns the expiry of fields, in seconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Tell(ref call, inSeconds: true, absolute: true);
}

internal readonly struct HPExpireTime : ICommand
{
    public static CommandSpec Spec => FieldExpiryCommands.Ask("HPEXPIRETIME", "Returns the expiry of fields, in milliseconds.");

    public static Reply Run(ref Call call) => FieldExpiryCommands.Tell(ref call, inSeconds: false, absolute: true);
}
