using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Bits;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bits;

/// <summary>How BITOP combines its sources.</summary>
internal enum BitOperation : byte
{
    None,
    And,
    Or,
    Xor,
    Not,
    /// <summary>In the first, in no other.</summary>
    Diff,
    /// <summary>In another, not in the first.</summary>
    Diff1,
    /// <summary>In the first and in another.</summary>
    AndOr,
    /// <summary>In exactly one.</summary>
    One,
}

/// <summary>Combines strings bit by bit and stores the result.</summary>
internal readonly struct BitOp : ICommand
{
    public static CommandSpec Spec => BitCommands.Spec("BITOP", -4, CommandFlags.Write | CommandFlags.DenyOom, "", "<AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE> destkey key [key ...]", "Combines strings bit by bit and stores the result.") with { Keys = new KeySpec(2, -1, 1) { Usage = "OW UPDATE", RestUsage = "RO ACCESS" }, Event = KeyEvent.Set, Since = "2.6.0", Complexity = "O(N)" };

    public static Reply Run(ref Call call)
    {
        BitOperation operation = OperationOf(ref call);
        int sources = call.Count - 3;
        if (operation == BitOperation.None)
            return call.Fail(Fault.Syntax);
        if (operation == BitOperation.Not && sources != 1)
            return call.FailBytes("ERR BITOP NOT must be called with a single source key."u8);
        if (operation is BitOperation.Diff or BitOperation.Diff1 or BitOperation.AndOr && sources < 2)
            return call.FailText($"ERR BITOP {call.Text(1).ToUpperInvariant()} must be called with at least two source keys.");
        KeyRef[] keys = ManyCommands.Rent(ref call, 2, 1, sources + 1);
        call.Session.Room.Ensure(0);
        call.Session.Lock(keys.AsSpan(0, sources + 1));
        Outcome outcome = RunLocked(call.Session, operation, keys.AsSpan(0, sources + 1), out int length, out bool isWrongKind);
        call.Session.Unlock();
        ManyCommands.Return(keys);
        if (isWrongKind)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? call.Int(length) : call.From(outcome);
    }

    private static BitOperation OperationOf(ref Call call) =>
        call.Is(1, "AND"u8) ? BitOperation.And : call.Is(1, "OR"u8) ? BitOperation.Or : call.Is(1, "XOR"u8) ? BitOperation.Xor
        : call.Is(1, "NOT"u8) ? BitOperation.Not : call.Is(1, "DIFF"u8) ? BitOperation.Diff : call.Is(1, "DIFF1"u8) ? BitOperation.Diff1
        : call.Is(1, "ANDOR"u8) ? BitOperation.AndOr : call.Is(1, "ONE"u8) ? BitOperation.One : BitOperation.None;

    private static unsafe Outcome RunLocked(
        StoreSession store, BitOperation operation, scoped ReadOnlySpan<KeyRef> keys, out int length, out bool isWrongKind)
    {
        length = 0;
        isWrongKind = false;
        foreach (ref readonly KeyRef key in keys[1..])
        {
            var look = default(SizeLook);
            store.Read(in key, ref look);
            isWrongKind |= look.WrongKind;
            length = Math.Max(length, look.Bytes);
        }

        if (isWrongKind)
            return Outcome.Unchanged;
        if (length == 0)
        {
            var delete = default(DeleteKey);
            store.Modify(in keys[0], ref delete);
            return Outcome.Done;
        }

        // Twice the room where what is found in several sources needs bits of its own.
        bool counts = operation is BitOperation.Diff or BitOperation.Diff1 or BitOperation.AndOr or BitOperation.One;
        var memory = default(ByteQueue); // one of the blocks that are kept: new memory costs more than the bits (BITOP of 1 MiB)
        try
        {
            byte* room = memory.Reserve(checked(length * (counts ? 2 : 1)));
            var mix = new MixLook
            {
                Operation = operation,
                Result = room,
                Length = length,
                Several = room + length,
                SeveralLength = counts ? length : 0,
            };
            foreach (ref readonly KeyRef key in keys[1..])
            {
                if (store.Read(in key, ref mix, quiet: true) != Outcome.Done)
                    mix.Add(default);
            }

            mix.End();
            var set = new SetValue { Value = room, Length = length };
            return store.Modify(in keys[0], ref set); // the log may not take so much
        }
        finally
        {
            memory.Free(); // common.Q1
        }
    }

    private struct SizeLook : IRead
    {
        internal int Bytes;
        internal bool WrongKind;

        public void Look(in RecordView record)
        {
            WrongKind = record.Kind != RecordKind.String;
            Bytes = record.ValueBytes;
        }
    }

    /// <summary>Takes one source after the other.</summary>
    private unsafe struct MixLook : IRead
    {
        internal BitOperation Operation;
        internal byte* Result;
        internal byte* Several;
        internal int Length;
        internal int SeveralLength;
        private bool _begun;

        public void Look(in RecordView record) => Add(record.ValueSpan);

        internal void Add(ReadOnlySpan<byte> source)
        {
            var result = new Span<byte>(Result, Length);
            var several = new Span<byte>(Several, SeveralLength);
            if (!_begun)
            {
                _begun = true;
                source.CopyTo(result);
                result[source.Length..].Clear();
                several.Clear();
                return;
            }

            switch (Operation)
            {
                case BitOperation.And:
                    BitMix.Merge<BitMix.And>(result, source);
                    result[source.Length..].Clear();
                    break;
                case BitOperation.Xor:
                    BitMix.Merge<BitMix.Xor>(result, source);
                    break;
                case BitOperation.One:
                    BitMix.Collect(result, several, source);
                    break;
                case BitOperation.Diff or BitOperation.Diff1 or BitOperation.AndOr:
                    BitMix.Merge<BitMix.Or>(several, source);
                    break;
                default:
                    BitMix.Merge<BitMix.Or>(result, source);
                    break;
            }
        }

        internal readonly void End()
        {
            var result = new Span<byte>(Result, Length);
            var several = new Span<byte>(Several, SeveralLength);
            if (Operation == BitOperation.Not)
                BitMix.Merge<BitMix.Not>(result, result);
            else if (Operation is BitOperation.Diff or BitOperation.One)
                BitMix.Merge<BitMix.Without>(result, several);
            else if (Operation == BitOperation.Diff1)
                BitMix.Merge<BitMix.Only>(result, several);
            else if (Operation == BitOperation.AndOr)
                BitMix.Merge<BitMix.And>(result, several);
        }
    }
}
