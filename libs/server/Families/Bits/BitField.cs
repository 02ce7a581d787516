using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Bits;
using Tsavorite;

namespace Garnet.Server.Families.Bits;

/// <summary>Numbers of up to 64 bits anywhere in a string: BITFIELD and BITFIELD_RO.</summary>
internal readonly struct BitField : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("BITFIELD", -2, CommandFlags.Write | CommandFlags.DenyOom, "RW ACCESS UPDATE", "key [GET encoding offset | [OVERFLOW WRAP | SAT | FAIL] SET encoding offset value | INCRBY encoding offset increment ...]", "Reads and changes numbers in a string.") with { Keys = KeySpec.One with { Usage = "RW ACCESS UPDATE", UsageOf = UsageOf }, Event = new("setbit", NotifyClasses.String), Since = "3.2.0" };

    public static Reply Run(ref Call call) => Run(ref call, readOnly: false);

    // It only reads if it is a row of GETs, each with its encoding and offset.
    private static string UsageOf(ref Call call, int name)
    {
        int at = name + 2;
        while (at + 2 < call.Count && call.Is(at, "GET"u8))
            at += 3;
        return at < call.Count ? "RW ACCESS UPDATE" : "RO ACCESS";
    }

    internal static unsafe Reply Run(ref Call call, bool readOnly)
    {
        var steps = new List<BitStep>();
        if (!TryParse(ref call, steps, out bool writes, out Reply failed))
            return failed;
        if (writes && readOnly)
            return call.FailBytes("ERR BITFIELD_RO only supports the GET subcommand"u8);
        var results = new long?[steps.Count];
        KeyRef key = call.Key;
        Outcome outcome = Outcome.Done;
        bool isWrongKind;
        if (writes)
        {
            fixed (BitStep* first = steps.ToArray())
            {
                var put = new PutBitFields { Steps = first, Count = steps.Count, Results = results };
                outcome = call.Session.Modify(in key, ref put);
                isWrongKind = put.WrongKind;
            }

            if (!HasWritten(steps, results))
                Telling.Tell(ref call, [null]);
        }
        else
        {
            var look = new FieldsLook(steps, results);
            if (call.Session.Read(in key, ref look) != Outcome.Done)
                System.Array.Fill(results, 0L);
            isWrongKind = look.WrongKind;
        }

        if (isWrongKind)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? Show(ref call, results) : call.From(outcome);
    }

    private static bool HasWritten(List<BitStep> steps, long?[] results)
    {
        for (int i = 0; i < results.Length; i++)
        {
            if (steps[i].Action != BitAction.Get && results[i] is not null)
                return true;
        }

        return false;
    }

    private static Reply Show(ref Call call, long?[] results)
    {
        call.Out.Array(results.Length);
        foreach (long? result in results)
        {
            if (result is { } number)
                call.Out.Int(number);
            else
                call.Out.Null();
        }

        return Reply.Sent;
    }

    private static bool TryParse(ref Call call, List<BitStep> steps, out bool writes, out Reply failed)
    {
        writes = false;
        var overflow = BitOverflow.Wrap;
        for (int i = 2; i < call.Count;)
        {
            int left = call.Count - i - 1;
            if (call.Is(i, "OVERFLOW"u8) && left >= 1)
            {
                if (!TryOverflow(ref call, i + 1, ref overflow, out failed))
                    return false;
                i += 2;
                continue;
            }

            BitAction? action = call.Is(i, "GET"u8) && left >= 2 ? BitAction.Get
                : call.Is(i, "SET"u8) && left >= 3 ? BitAction.Set
                : call.Is(i, "INCRBY"u8) && left >= 3 ? BitAction.Add : null;
            if (action is not { } known)
            {
                failed = call.Fail(Fault.Syntax);
                return false;
            }

            var step = new BitStep { Action = known, Overflow = overflow };
            if (!TryPlace(ref call, i + 1, ref step, out failed))
                return false;
            if (known != BitAction.Get && !call.TryInt64(i + 3, out step.Value))
            {
                failed = call.Fail(Fault.NotAnInteger);
                return false;
            }

            writes |= known != BitAction.Get;
            steps.Add(step);
            i += known == BitAction.Get ? 3 : 4;
        }

        failed = Reply.Sent;
        return true;
    }

    private static bool TryOverflow(ref Call call, int index, ref BitOverflow overflow, out Reply failed)
    {
        failed = Reply.Sent;
        if (call.Is(index, "WRAP"u8))
            overflow = BitOverflow.Wrap;
        else if (call.Is(index, "SAT"u8))
            overflow = BitOverflow.Saturate;
        else if (call.Is(index, "FAIL"u8))
            overflow = BitOverflow.Fail;
        else
            failed = call.FailBytes("ERR Invalid OVERFLOW type specified"u8);
        return failed == Reply.Sent;
    }

    // An encoding (u8, i16) and an offset in bits, or with # in numbers of that width.
    private static bool TryPlace(ref Call call, int index, ref BitStep step, out Reply failed)
    {
        ReadOnlySpan<byte> type = call[index], offset = call[index + 1];
        bool signed = type.Length > 0 && type[0] == 'i';
        failed = Reply.Sent;
        if (type.Length < 2 || (!signed && type[0] != 'u') || !NumberText.TryInt64(type[1..], out long bits) || bits < 1
            || bits > (signed ? 64 : 63))
        {
            failed = call.FailBytes("ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."u8);
            return false;
        }

        step.Bits = (byte)bits;
        step.Signed = signed ? (byte)1 : (byte)0;
        bool counted = offset.Length > 0 && offset[0] == '#';
        bool isOffset = counted
            ? NumberText.TryInt64(offset[1..], out step.Offset) && step.Offset is >= 0 and < 1L << 40
                && (step.Offset *= bits) >> 3 < call.Server.ClientLimits.Requests.BulkBytesMax
            : BitCommands.TryOffset(ref call, offset, out step.Offset);
        if (!isOffset)
            failed = BitCommands.BadOffset(ref call);
        return isOffset;
    }

    private struct FieldsLook(List<BitStep> steps, long?[] results) : IRead
    {
        internal bool WrongKind;

        public void Look(in RecordView record)
        {
            WrongKind = record.Kind != RecordKind.String;
            for (int i = 0; i < steps.Count && !WrongKind; i++)
                results[i] = steps[i].Read(record.ValueSpan);
        }
    }
}

internal readonly struct BitFieldRo : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("BITFIELD_RO", -2, CommandFlags.ReadOnly | CommandFlags.Fast, "RO ACCESS", "key [GET encoding offset [GET encoding offset ...]]", "Reads numbers in a string.") with { Since = "6.0.0" };

    public static Reply Run(ref Call call) => BitField.Run(ref call, readOnly: true);
}
