using System.Buffers.Binary;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Counters;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Counters;

/// <summary>Strings that hold numbers: INCR and its relatives.</summary>
internal static class CounterCommands
{
    internal static readonly KeyEvent Added = new("incrby", NotifyClasses.String);

    internal static void Register(CommandTable table)
    {
        table.Add<Incr>();
        table.Add<Decr>();
        table.Add<IncrBy>();
        table.Add<DecrBy>();
        table.Add<IncrByFloat>();
        table.Add<IncrEx>();
    }

    internal static void Replay(ReplayTable table) => table.Add<AddInt64>();

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary) =>
        new(name, arity, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, KeySpec.One with { Usage = "RW ACCESS UPDATE" })
            { Group = "string", Syntax = syntax, Summary = summary };

    /// <summary>Adds to the integer under the key and replies the sum.</summary>
    internal static Reply Add(ref Call call, long by)
    {
        KeyRef key = call.Key;
        var add = new AddInt64(by);
        Outcome outcome = call.Session.Modify(in key, ref add);
        if (outcome == Outcome.Done)
            return call.Int(add.Result);
        return outcome == Outcome.Unchanged ? call.Fail(add.Refusal) : call.From(outcome);
    }
}

/// <summary>Adds to a decimal integer; a key that is not there counts as 0.</summary>
internal unsafe struct AddInt64(long by) : IModify
{
    private long _by = by;
    private int _digits;

    internal long Result;
    internal Fault Refusal;

    public static byte OpId => 3;

    public readonly long EncodedBytesMax => 8;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        long old = 0;
        if (existing.Exists)
        {
            Refusal = existing.Kind != RecordKind.String ? Fault.WrongType : Fault.NotAnInteger;
            if (existing.Kind != RecordKind.String || !NumberText.TryInt64(existing.ValueSpan, out old))
                return Verdict.Keep;
        }

        Refusal = Fault.IncrementOverflow;
        long sum = unchecked(old + _by);
        if (((old ^ sum) & (_by ^ sum)) < 0)
            return Verdict.Keep;
        Result = sum;
        _digits = NumberText.Length(sum);
        next.ValueBytes = _digits;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        fixed (byte* to = value)
            NumberText.Write(to, Result);
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, _by);
        return 8;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 8)
            return false;
        _by = BinaryPrimitives.ReadInt64LittleEndian(from);
        return true;
    }
}

internal readonly struct Incr : ICommand
{
    public static CommandSpec Spec => CounterCommands.Spec("INCR", 2, "key", "Increments the integer value of a key by one; a missing key counts as 0.") with { Event = CounterCommands.Added };

    public static Reply Run(ref Call call) => CounterCommands.Add(ref call, 1);
}

internal readonly struct Decr : ICommand
{
    public static CommandSpec Spec => CounterCommands.Spec("DECR", 2, "key", "Decrements the integer value of a key by one; a missing key counts as 0.") with { Event = CounterCommands.Added };

    public static Reply Run(ref Call call) => CounterCommands.Add(ref call, -1);
}

internal readonly struct IncrBy : ICommand
{
    public static CommandSpec Spec => CounterCommands.Spec("INCRBY", 3, "key increment", "Increments the integer value of a key by a number; a missing key counts as 0.") with { Event = CounterCommands.Added };

    public static Reply Run(ref Call call) =>
        call.TryInt64(2, out long by) ? CounterCommands.Add(ref call, by) : call.Fail(Fault.NotAnInteger);
}

internal readonly struct DecrBy : ICommand
{
    public static CommandSpec Spec => CounterCommands.Spec("DECRBY", 3, "key decrement", "Decrements the integer value of a key by a number; a missing key counts as 0.") with { Event = CounterCommands.Added };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long by))
            return call.Fail(Fault.NotAnInteger);
        return by == long.MinValue ? call.FailBytes("ERR decrement would overflow"u8) : CounterCommands.Add(ref call, -by);
    }
}

internal readonly unsafe struct IncrByFloat : ICommand
{
    private const int AttemptsMax = 1000;

    public static CommandSpec Spec => CounterCommands.Spec("INCRBYFLOAT", 3, "key increment", "Increments the floating point value of a key by a number; a missing key counts as 0.") with { Event = new("incrbyfloat", NotifyClasses.String), Since = "2.6.0" };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        Span<byte> old = stackalloc byte[ExtendedFloat.TextBytesMax];
        Span<byte> sum = stackalloc byte[ExtendedFloat.TextBytesMax];
        // The sum is worked out without the lock (it takes microseconds), then set only if the value is still the same.
        for (int attempt = 0; attempt < AttemptsMax; attempt++)
        {
            var read = new NumberLook(old);
            bool exists = call.Session.Read(in key, ref read) == Outcome.Done;
            if (exists && read.WrongKind)
                return call.Fail(Fault.WrongType);
            ReadOnlySpan<byte> before = exists ? old[..Math.Min(read.Length, old.Length)] : "0"u8;
            if (read.Length > old.Length || !ExtendedFloat.TryParse(before, out ExtendedFloat current)
                || !ExtendedFloat.TryParse(call[2], out ExtendedFloat by))
                return call.Fail(Fault.NotAFloat);
            if (!ExtendedFloat.TryAdd(current, by, out ExtendedFloat result))
                return call.Fail(Fault.IncrementNotFinite);
            int length = result.Write(sum);
            if (TryReplace(ref call, in key, exists ? before : default, exists, sum[..length], out Outcome outcome))
                return outcome == Outcome.Done ? call.Bulk(sum[..length]) : call.From(outcome);
        }

        return call.Fail(Fault.KeyChangesTooFast);
    }

    private static bool TryReplace(
        ref Call call, in KeyRef key, scoped ReadOnlySpan<byte> before, bool existed, scoped ReadOnlySpan<byte> after, out Outcome outcome)
    {
        fixed (byte* value = after, operand = before)
        {
            var set = new SetValue
            {
                Value = value,
                Length = after.Length,
                KeepExpiry = true,
                Condition = existed ? SetCondition.IfEqual : SetCondition.IfAbsent,
                Operand = operand,
                OperandLength = before.Length,
            };
            outcome = call.Session.Modify(in key, ref set);
            return set.Applied || outcome is Outcome.OutOfMemory or Outcome.TooLarge;
        }
    }
}
