using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Strings;

/// <summary>SET with all its options (Redis 8.4, Valkey 9).</summary>
internal readonly unsafe struct Set : ICommand
{
    public static CommandSpec Spec => new("SET", -3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, KeySpec.One with { Usage = "RW ACCESS UPDATE", UsageOf = UsageOf, HeadsUpTo = 3 })
    {
        Group = "string",
        Syntax = "key value [NX | XX | IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] [GET] [EX seconds | PX milliseconds | " +
            "EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
        Summary = "Sets the string value of a key, ignoring its type.",
        Event = KeyEvent.Set with { ExpiryAt = 3 },
        Misses = KeyMisses.WithGet,
    };

    // It tells of the old value only when it is asked to: what it is, or whether it is what somebody says.
    private static string UsageOf(ref Call call, int name)
    {
        for (int i = name + 3; i < call.Count; i++)
        {
            if (call.Is(i, "GET"u8) || CompareCommands.IsCondition(ref call, i))
                return "RW ACCESS UPDATE";
        }

        return "OW UPDATE";
    }

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var set = new SetValue { Value = call.Args[2].Bytes, Length = call.Args[2].Length };
        if (call.Count > 3)
            return RunWithOptions(ref call, in key, ref set);
        Outcome outcome = call.Session.Modify(in key, ref set);
        return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
    }

    private static Reply RunWithOptions(ref Call call, in KeyRef key, ref SetValue set)
    {
        var options = new StringOptions(allowed: StringOption.AnySet);
        if (!options.TryParse(ref call, 3, out Reply failed) || !options.TryExpiry(ref call, out failed))
            return failed;
        set.Condition = options.Condition;
        set.Operand = options.Operand;
        set.OperandLength = options.OperandLength;
        set.KeepExpiry = options.KeepExpiry;
        set.ExpireAtMs = options.ExpireAtMs;
        set.WantsOld = options.ReturnsOld;
        Outcome outcome = Apply(ref call, in key, ref set);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        if (set.WrongKind)
            return call.Fail(Fault.WrongType);
        if (options.ReturnsOld)
        {
            if (!set.Existed)
                return call.Null();
            call.Out.Position = set.Old.End;
            return Reply.Sent;
        }

        return set.Applied ? call.Ok() : call.Null();
    }

    /// <summary>Runs the operation; with the old value wanted, again with more room if it did not fit.</summary>
    internal static Outcome Apply(ref Call call, in KeyRef key, ref SetValue set)
    {
        while (true)
        {
            SetValue attempt = set;
            if (set.WantsOld)
                attempt.Old = new ValueCopy(call.Out);
            Outcome outcome = call.Session.Modify(in key, ref attempt);
            if (outcome == Outcome.Unchanged && attempt.Old.TooSmall)
            {
                call.Out.Room(attempt.Old.Length + 64);
                continue;
            }

            set = attempt;
            return outcome;
        }
    }
}
