using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Bits;
using Tsavorite;

namespace Garnet.Server.Families.Bits;

/// <summary>Strings as arrays of bits, the first bit the highest of the first byte: SETBIT, GETBIT, BITCOUNT, BITPOS.</summary>
internal static class BitCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<SetBit>();
        table.Add<GetBit>();
        table.Add<BitCount>();
        table.Add<BitPos>();
        table.Add<BitOp>();
        table.Add<BitField>();
        table.Add<BitFieldRo>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.Add<PutBit>();
        table.Add<PutBitFields>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string usage, string syntax, string summary) =>
        new(name, arity, flags, KeySpec.One with { Usage = usage })
            { Group = "bitmap", Syntax = syntax, Summary = summary, Since = "2.2.0" };

    internal static Reply BadOffset(ref Call call) => call.FailBytes("ERR bit offset is not an integer or out of range"u8);

    /// <summary>Reads the place of a bit in a string as long as strings may be.</summary>
    internal static bool TryOffset(ref Call call, ReadOnlySpan<byte> text, out long offset) =>
        NumberText.TryInt64(text, out offset) && offset >= 0 && offset >> 3 < call.Server.ClientLimits.Requests.BulkBytesMax;

    /// <summary>
    /// Looks whether the key is there; false if nothing is left to do, and the reply has been written: <paramref name="without"/>
    /// without one, an error for another kind.
    /// </summary>
    internal static bool HasString(ref Call call, long without, out Reply reply)
    {
        KeyRef key = call.Key;
        var look = default(KindLook);
        bool exists = call.Session.Read(in key, ref look) == Outcome.Done;
        if (exists && look.Kind == RecordKind.String)
        {
            reply = Reply.Sent;
            return true;
        }

        reply = exists ? call.Fail(Fault.WrongType) : call.Int(without);
        return false;
    }

    private struct KindLook : IRead
    {
        internal RecordKind Kind;

        public void Look(in RecordView record) => Kind = record.Kind;
    }
}

internal readonly struct SetBit : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("SETBIT", 4, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Quick, "RW ACCESS UPDATE", "key offset value", "Sets or clears a bit of a string and returns what it was.") with { Event = new("setbit", NotifyClasses.String), Room = static (ref Call call) => BitCommands.TryOffset(ref call, call[2], out long offset) ? offset >> 3 : 0 };

    public static Reply Run(ref Call call)
    {
        if (!BitCommands.TryOffset(ref call, call[2], out long offset))
            return BitCommands.BadOffset(ref call);
        if (!call.TryInt64(3, out long bit) || bit is < 0 or > 1)
            return call.FailBytes("ERR bit is not an integer or out of range"u8);
        KeyRef key = call.Key;
        var put = new PutBit { Offset = offset, Bit = (int)bit };
        Outcome outcome = call.Session.Modify(in key, ref put);
        if (put.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(put.Old) : call.From(outcome);
    }
}

internal readonly struct GetBit : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("GETBIT", 3, CommandFlags.ReadOnly | CommandFlags.Fast, "RO ACCESS", "key offset", "Returns a bit of a string.");

    public static Reply Run(ref Call call)
    {
        if (!BitCommands.TryOffset(ref call, call[2], out long offset))
            return BitCommands.BadOffset(ref call);
        KeyRef key = call.Key;
        var look = new BitLook { Offset = offset };
        call.Session.Read(in key, ref look);
        return look.WrongKind ? call.Fail(Fault.WrongType) : call.Int(look.Bit);
    }

    private struct BitLook : IRead
    {
        internal long Offset;
        internal int Bit;
        internal bool WrongKind;

        public unsafe void Look(in RecordView record)
        {
            WrongKind = record.Kind != RecordKind.String;
            Bit = !WrongKind && Offset >> 3 < record.ValueBytes ? record.Value[Offset >> 3] >> (7 - (int)(Offset & 7)) & 1 : 0;
        }
    }
}

internal readonly struct BitCount : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("BITCOUNT", -2, CommandFlags.ReadOnly, "RO ACCESS", "key [start end [BYTE | BIT]]", "Counts the bits of a string that are set.") with { Since = "2.6.0", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (!BitCommands.HasString(ref call, 0, out Reply reply))
            return reply;
        var range = new BitRange { Stop = -1 };
        if (call.Count == 3 || call.Count > 5)
            return call.Fail(Fault.Syntax);
        if (call.Count > 3 && (!call.TryInt64(2, out range.Start) || !call.TryInt64(3, out range.Stop)))
            return call.Fail(Fault.NotAnInteger);
        if (range.Start < 0 && range.Stop < 0 && range.Start > range.Stop)
            return call.Int(0); // before the unit is looked at
        if (call.Count == 5 && !range.TryUnit(ref call, 4))
            return call.Fail(Fault.Syntax);
        KeyRef key = call.Key;
        var look = new CountLook(range);
        call.Session.Read(in key, ref look, quiet: true);
        return call.Int(look.Count);
    }

    private struct CountLook(BitRange range) : IRead
    {
        internal long Count;

        public void Look(in RecordView record)
        {
            (long from, long count) = record.Kind == RecordKind.String ? range.Of(record.ValueBytes) : default;
            Count = Bitmap.Count(record.ValueSpan, from, count);
        }
    }
}

internal readonly struct BitPos : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("BITPOS", -3, CommandFlags.ReadOnly, "RO ACCESS", "key bit [start [end [BYTE | BIT]]]", "Finds the first set or clear bit of a string.") with { Since = "2.8.7", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long bit))
            return call.Fail(Fault.NotAnInteger);
        if (bit is < 0 or > 1)
            return call.FailBytes("ERR The bit argument must be 1 or 0."u8);
        if (!BitCommands.HasString(ref call, bit == 1 ? -1 : 0, out Reply reply))
            return reply;
        var range = new BitRange { Stop = -1 };
        if (call.Count > 6)
            return call.Fail(Fault.Syntax);
        if (call.Count > 3 && !call.TryInt64(3, out range.Start))
            return call.Fail(Fault.NotAnInteger);
        if (call.Count == 6 && !range.TryUnit(ref call, 5))
            return call.Fail(Fault.Syntax);
        if (call.Count > 4 && !call.TryInt64(4, out range.Stop))
            return call.Fail(Fault.NotAnInteger);
        KeyRef key = call.Key;
        var look = new FindLook(range, (int)bit, hasStop: call.Count > 4);
        call.Session.Read(in key, ref look, quiet: true);
        return call.Int(look.Position);
    }

    private struct FindLook(BitRange range, int bit, bool hasStop) : IRead
    {
        internal long Position;

        public void Look(in RecordView record)
        {
            (long from, long count) = record.Kind == RecordKind.String ? range.Of(record.ValueBytes) : default;
            Position = count == 0 ? -1 : Bitmap.Find(record.ValueSpan, bit, from, count);
            // Behind the end of a string all bits are clear, unless the caller has named an end.
            if (Position < 0 && bit == 0 && !hasStop && count > 0)
                Position = from + count;
        }
    }
}
