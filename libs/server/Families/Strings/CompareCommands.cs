using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Strings;

/// <summary>Compare, then act: DELEX and DIGEST (Redis 8.4), DELIFEQ (Valkey 9).</summary>
internal static class CompareCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<DelEx>();
        table.Add<DelIfEq>();
        table.Add<Digest>();
    }

    internal static void Replay(ReplayTable table) => table.Add<DeleteIf>();

    /// <summary>True if the argument is a condition about the old value.</summary>
    internal static bool IsCondition(ref Call call, int at) => ConditionOf(ref call, at) != SetCondition.Always;

    /// <summary>The condition that the argument names; always, if it is none.</summary>
    internal static SetCondition ConditionOf(ref Call call, int at) => call.Is(at, "IFEQ"u8) ? SetCondition.IfEqual
        : call.Is(at, "IFNE"u8) ? SetCondition.IfNotEqual
        : call.Is(at, "IFDEQ"u8) ? SetCondition.IfDigestEqual
        : call.Is(at, "IFDNE"u8) ? SetCondition.IfDigestNotEqual
        : SetCondition.Always;

    internal static unsafe Reply Delete(ref Call call, SetCondition condition, int operandArg)
    {
        KeyRef key = call.Key;
        var delete = new DeleteIf { Condition = condition };
        if (operandArg > 0)
        {
            delete.Operand = call.Args[operandArg].Bytes;
            delete.OperandLength = call.Args[operandArg].Length;
        }

        call.Session.Modify(in key, ref delete);
        return delete.WrongKind ? call.Fail(Fault.WrongType) : call.Int(delete.Removed ? 1 : 0);
    }
}

internal readonly struct DelEx : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("DELEX", -2, CommandFlags.Write | CommandFlags.Fast, KeySpec.One with { UsageOf = UsageOf }, "RM DELETE", "key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]", "Deletes a key if its value meets a condition.") with { Since = "8.4.0" };

    // With a condition it tells of the value.
    private static string UsageOf(ref Call call, int name) => call.Count > name + 2 ? "RW ACCESS DELETE" : "RM DELETE";

    public static Reply Run(ref Call call)
    {
        if (call.Count == 2)
            return CompareCommands.Delete(ref call, SetCondition.Always, 0);
        if (call.Count != 4)
            return call.WrongArity();
        SetCondition condition = CompareCommands.ConditionOf(ref call, 2);
        return condition == SetCondition.Always ? call.Fail(Fault.Syntax) : CompareCommands.Delete(ref call, condition, 3);
    }
}

internal readonly struct DelIfEq : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("DELIFEQ", 3, CommandFlags.Write | CommandFlags.Fast, KeySpec.One,
        "RW ACCESS DELETE", "key value", "Deletes a key if its value equals.") with { Since = "9.0.0" };

    public static Reply Run(ref Call call) => CompareCommands.Delete(ref call, SetCondition.IfEqual, 2);
}

internal readonly struct Digest : ICommand
{
    public static CommandSpec Spec => StringCommands.Spec("DIGEST", 2, StringCommands.ReadFast, KeySpec.One, "RO ACCESS", "key", "Returns the digest of a string value, for the digest conditions.") with { Since = "8.4.0", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var look = default(DigestLook);
        if (call.Session.Read(in key, ref look) != Outcome.Done)
            return call.Null();
        if (look.Kind != RecordKind.String)
            return call.Fail(Fault.WrongType);
        Span<byte> digits = stackalloc byte[ValueDigest.Digits];
        ValueDigest.Print(look.Hash, digits);
        return call.Bulk(digits);
    }

    private struct DigestLook : IRead
    {
        internal RecordKind Kind;
        internal ulong Hash;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Hash = ValueDigest.Of(record.ValueSpan);
        }
    }
}
