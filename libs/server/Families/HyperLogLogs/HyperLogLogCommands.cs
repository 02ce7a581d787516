using System.Buffers.Binary;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Collections;
using Garnet.Types.HyperLogLogs;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.HyperLogLogs;

/// <summary>Counting different elements by little memory: PFADD, PFCOUNT, PFMERGE, and what looks into a value.</summary>
internal static unsafe class HyperLogLogCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<PfAdd>();
        table.Add<PfCount>();
        table.Add<PfMerge>();
        table.Add<PfDebug>();
        table.Add<PfSelfTest>();
    }

    internal static void Replay(ReplayTable table) => table.Add<PutElements>();

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, KeySpec keys, string syntax, string summary) =>
        new(name, arity, flags, keys) { Group = "hyperloglog", Syntax = syntax, Summary = summary, Since = "2.8.9" };

    /// <summary>Bytes that a sparse value may have before it becomes a dense one; more would not be smaller.</summary>
    internal static int SparseBytesMax(ref Call call) => (int)Math.Min(call.Server.Settings.Encoding.HyperLogLogSparseBytesMax, 16 * 1024);

    internal static Reply Refuse(ref Call call, HyperLogLogFault fault) => fault switch
    {
        HyperLogLogFault.WrongKind => call.Fail(Fault.WrongType),
        HyperLogLogFault.Foreign => call.FailBytes("WRONGTYPE Key is not a valid HyperLogLog string value."u8),
        _ => call.FailBytes("INVALIDOBJ Corrupted HLL object detected"u8),
    };

    /// <summary>Copies a key's value; length 0 if it is not there.</summary>
    internal static HyperLogLogFault Read(StoreSession store, in KeyRef key, Span<byte> to, out int length, bool quiet = false)
    {
        length = 0;
        fixed (byte* room = to)
        {
            var look = new CopyLook { To = room };
            if (store.Read(in key, ref look, quiet) == Outcome.Done && look.Fault == HyperLogLogFault.None)
                length = look.Length;
            return look.Fault;
        }
    }

    private struct CopyLook : IRead
    {
        internal byte* To;
        internal int Length;
        internal HyperLogLogFault Fault;

        public void Look(in RecordView record)
        {
            Fault = PutElements.FaultOf(record);
            Length = record.ValueBytes;
            if (Fault == HyperLogLogFault.None)
                Buffer.MemoryCopy(record.Value, To, Length, Length);
        }
    }
}

internal readonly struct PfAdd : ICommand
{
    public static CommandSpec Spec => HyperLogLogCommands.Spec("PFADD", -2, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast, KeySpec.One with { Usage = "RW INSERT" }, "key [element [element ...]]", "Adds elements to a HyperLogLog.") with { Event = new("pfadd", NotifyClasses.String) };

    public static unsafe Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        var put = new PutElements
        {
            Elements = new Operands(call.Args + 2, call.Count - 2),
            SparseBytesMax = HyperLogLogCommands.SparseBytesMax(ref call),
        };
        Outcome outcome = call.Session.Modify(in key, ref put);
        if (put.Fault != HyperLogLogFault.None)
            return HyperLogLogCommands.Refuse(ref call, put.Fault);
        return outcome is Outcome.Done or Outcome.Unchanged ? call.Int(put.Changed ? 1 : 0) : call.From(outcome);
    }
}

internal readonly struct PfCount : ICommand
{
    public static CommandSpec Spec => HyperLogLogCommands.Spec("PFCOUNT", -2, CommandFlags.ReadOnly | CommandFlags.MayReplicate, KeySpec.All with { Usage = "RW ACCESS" }, "key [key ...]", "Estimates how many different elements HyperLogLogs have together.") with { Complexity = "O(N)", Misses = KeyMisses.All };

    public static Reply Run(ref Call call)
    {
        if (call.Count == 2)
            return One(ref call);
        int count = call.Count - 1;
        Span<byte> registers = stackalloc byte[HyperLogLog.Registers];
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        HyperLogLogFault fault = HyperLogLogFault.None;
        for (var read = new SnapshotRead(call.Session, keys.AsSpan(0, count)); read.Next();)
            fault = Merge(call.Session, keys.AsSpan(0, count), registers);
        ManyCommands.Return(keys);
        return fault == HyperLogLogFault.None ? call.Int(CardinalityEstimate.Of(registers)) : HyperLogLogCommands.Refuse(ref call, fault);
    }

    private static HyperLogLogFault Merge(StoreSession store, scoped ReadOnlySpan<KeyRef> keys, scoped Span<byte> registers)
    {
        registers.Clear();
        foreach (ref readonly KeyRef key in keys)
        {
            HyperLogLogFault fault = HyperLogLogCommands.Read(store, in key, PutElements.Scratch, out int length);
            if (fault == HyperLogLogFault.None && length > 0 && !HyperLogLog.TryMerge(PutElements.Scratch[..length], registers))
                fault = HyperLogLogFault.Damaged;
            if (fault != HyperLogLogFault.None)
                return fault;
        }

        return HyperLogLogFault.None;
    }

    private static Reply One(ref Call call)
    {
        KeyRef key = call.Key;
        var kept = default(KeptLook);
        Outcome outcome = call.Session.Read(in key, ref kept);
        if (outcome != Outcome.Done || kept.Fault != HyperLogLogFault.None)
            return outcome == Outcome.Done ? HyperLogLogCommands.Refuse(ref call, kept.Fault) : call.Int(0);
        return kept.Holds ? call.Int(kept.Cardinality) : WorkOut(ref call, in key);
    }

    // Writes down what it has worked out, as Redis does, where it may write.
    private static Reply WorkOut(ref Call call, in KeyRef key)
    {
        Span<byte> registers = stackalloc byte[HyperLogLog.Registers];
        registers.Clear();
        call.Session.Lock([key]);
        HyperLogLogFault fault = HyperLogLogCommands.Read(call.Session, in key, PutElements.Scratch, out int length, quiet: true);
        Span<byte> value = PutElements.Scratch[..length];
        long cardinality = 0;
        if (length > 0 && !HyperLogLog.TryCached(value, out cardinality))
        {
            if (!HyperLogLog.TryMerge(value, registers))
                fault = HyperLogLogFault.Damaged;
            else
                Keep(ref call, in key, cardinality = CardinalityEstimate.Of(registers));
        }

        call.Session.Unlock();
        return fault == HyperLogLogFault.None ? call.Int(cardinality) : HyperLogLogCommands.Refuse(ref call, fault);
    }

    // What is asked for most is written down already: 8 bytes of 12 KB, which are not copied for it.
    private struct KeptLook : IRead
    {
        internal long Cardinality;
        internal bool Holds;
        internal HyperLogLogFault Fault;

        public void Look(in RecordView record)
        {
            Fault = PutElements.FaultOf(record);
            Holds = Fault == HyperLogLogFault.None && HyperLogLog.TryCached(record.ValueSpan, out Cardinality);
        }
    }

    private static unsafe void Keep(ref Call call, in KeyRef key, long cardinality)
    {
        if (call.Server.Replication.IsReplica || call.Server.Keeper is { Blocks: true })
            return;
        byte* bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(new Span<byte>(bytes, sizeof(long)), cardinality);
        var write = new SetRangeBytes
        {
            Bytes = bytes,
            Length = sizeof(long),
            Offset = HyperLogLog.CardinalityOffset,
            BytesMax = int.MaxValue,
        };
        call.Session.Modify(in key, ref write);
    }
}

internal readonly struct PfMerge : ICommand
{
    public static CommandSpec Spec => HyperLogLogCommands.Spec("PFMERGE", -2, CommandFlags.Write | CommandFlags.DenyOom, KeySpec.All with { Usage = "RW ACCESS INSERT", RestUsage = "RO ACCESS" }, "destkey [sourcekey [sourcekey ...]]", "Puts the elements of HyperLogLogs into one.") with { Complexity = "O(N)", Misses = KeyMisses.All, Event = new("pfadd", NotifyClasses.String) };

    public static unsafe Reply Run(ref Call call)
    {
        int count = call.Count - 1;
        KeyRef[] keys = ManyCommands.Rent(ref call, 1, 1, count);
        call.Session.Room.Ensure(HyperLogLog.DenseBytes);
        call.Session.Lock(keys.AsSpan(0, count));
        Outcome outcome = Outcome.Done;
        HyperLogLogFault fault = Merge(call.Session, keys.AsSpan(0, count), HyperLogLogCommands.SparseBytesMax(ref call), out int length);
        if (fault == HyperLogLogFault.None)
        {
            fixed (byte* value = PutElements.Scratch)
            {
                var set = new SetValue { Value = value, Length = length, KeepExpiry = true };
                outcome = call.Session.Modify(in keys[0], ref set);
            }
        }

        call.Session.Unlock();
        ManyCommands.Return(keys);
        if (fault != HyperLogLogFault.None)
            return HyperLogLogCommands.Refuse(ref call, fault);
        return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
    }

    // The result is in the scratch memory.
    private static HyperLogLogFault Merge(StoreSession store, scoped ReadOnlySpan<KeyRef> keys, int sparseBytesMax, out int length)
    {
        Span<byte> registers = stackalloc byte[HyperLogLog.Registers], scratch = PutElements.Scratch;
        registers.Clear();
        bool dense = false;
        for (int i = 0; i < keys.Length; i++)
        {
            HyperLogLogFault fault = HyperLogLogCommands.Read(store, in keys[i], scratch, out length);
            if (fault == HyperLogLogFault.None && length > 0 && !HyperLogLog.TryMerge(scratch[..length], registers))
                fault = HyperLogLogFault.Damaged;
            if (fault != HyperLogLogFault.None)
                return fault;
            dense |= length > 0 && HyperLogLog.IsDense(scratch);
        }

        HyperLogLogCommands.Read(store, in keys[0], scratch, out length);
        if (length == 0)
            length = HyperLogLog.WriteEmpty(scratch);
        if (dense && !HyperLogLog.IsDense(scratch))
            HyperLogLog.TryMakeDense(scratch, ref length);
        for (int i = 0; i < registers.Length && !HyperLogLog.IsDense(scratch); i++)
        {
            if (registers[i] > 0)
                HyperLogLog.Raise(scratch, ref length, (i, registers[i]), sparseBytesMax);
        }

        if (HyperLogLog.IsDense(scratch))
            DenseRegisters.Write(registers, scratch[HyperLogLog.HeaderBytes..]);
        HyperLogLog.Invalidate(scratch);
        return HyperLogLogFault.None;
    }
}

internal readonly struct PfDebug : ICommand
{
    public static CommandSpec Spec => HyperLogLogCommands.Spec("PFDEBUG", 3, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Admin, new KeySpec(2, 2, 1) { Usage = "RW ACCESS" }, "subcommand key", "Looks into a HyperLogLog.") with { Complexity = "N/A" };

    public static unsafe Reply Run(ref Call call)
    {
        KeyRef key = call.KeyAt(2);
        Span<byte> scratch = PutElements.Scratch;
        call.Session.Lock([key]);
        HyperLogLogFault fault = HyperLogLogCommands.Read(call.Session, in key, scratch, out int length);
        bool wasDense = length > 0 && HyperLogLog.IsDense(scratch);
        bool makesDense = length > 0 && (call.Is(1, "GETREG"u8) || call.Is(1, "TODENSE"u8));
        if (makesDense && !wasDense && !HyperLogLog.TryMakeDense(scratch, ref length))
            fault = HyperLogLogFault.Damaged;
        if (makesDense && !wasDense && fault == HyperLogLogFault.None)
        {
            fixed (byte* value = scratch)
            {
                var set = new SetValue { Value = value, Length = length, KeepExpiry = true };
                call.Session.Modify(in key, ref set);
            }
        }

        call.Session.Unlock();
        if (fault != HyperLogLogFault.None)
            return HyperLogLogCommands.Refuse(ref call, fault);
        return length == 0 ? call.FailBytes("ERR The specified key does not exist"u8) : Show(ref call, scratch[..length], wasDense);
    }

    private static Reply Show(ref Call call, ReadOnlySpan<byte> value, bool wasDense)
    {
        if (call.Is(1, "GETREG"u8))
        {
            call.Out.Array(HyperLogLog.Registers);
            for (int i = 0; i < HyperLogLog.Registers; i++)
                call.Out.Int(DenseRegisters.Get(value[HyperLogLog.HeaderBytes..], i));
            return Reply.Sent;
        }

        if (call.Is(1, "TODENSE"u8))
            return call.Int(wasDense ? 0 : 1);
        if (call.Is(1, "ENCODING"u8))
        {
            call.Out.Simple(wasDense ? "dense"u8 : "sparse"u8);
            return Reply.Sent;
        }

        if (!call.Is(1, "DECODE"u8))
            return call.FailBytes([.. "ERR Unknown PFDEBUG subcommand '"u8, .. call.Shown(1), (byte)'\'']);
        return wasDense ? call.FailBytes("ERR HLL encoding is not sparse"u8) : call.Bulk(Runs(value[HyperLogLog.HeaderBytes..]));
    }

    private static byte[] Runs(ReadOnlySpan<byte> runs)
    {
        var text = new StringBuilder();
        for (int at = 0; at < runs.Length;)
        {
            SparseRegisters.Run run = SparseRegisters.Read(runs, at);
            if (run.Value > 0)
                text.Append(System.Globalization.CultureInfo.InvariantCulture, $"v:{run.Value},{run.Length} ");
            else
                text.Append(System.Globalization.CultureInfo.InvariantCulture, $"{(run.Bytes == 2 ? 'Z' : 'z')}:{run.Length} ");
            at += run.Bytes;
        }

        return Encoding.ASCII.GetBytes(text.ToString().TrimEnd());
    }
}

internal readonly struct PfSelfTest : ICommand
{
    private const int Rounds = 1000;

    public static CommandSpec Spec => HyperLogLogCommands.Spec("PFSELFTEST", 1, CommandFlags.Admin, KeySpec.None, "", "Checks the registers and the estimate of HyperLogLogs.") with { Complexity = "N/A" };

    /// <summary>Registers of six bits keep what is put into them, and an estimate lies where it should.</summary>
    public static unsafe Reply Run(ref Call call)
    {
        Span<byte> dense = PutElements.Scratch[HyperLogLog.HeaderBytes..HyperLogLog.DenseBytes];
        Span<byte> plain = stackalloc byte[HyperLogLog.Registers];
        dense.Clear();
        plain.Clear();
        for (int i = 0; i < HyperLogLog.Registers; i++)
        {
            plain[i] = (byte)(i * 31 & HyperLogLog.RegisterMax);
            DenseRegisters.Set(dense, i, plain[i]);
        }

        for (int i = 0; i < HyperLogLog.Registers; i++)
        {
            if (DenseRegisters.Get(dense, i) != plain[i])
                return call.FailText($"ERR TESTFAILED Register {i} should be {plain[i]} but is {DenseRegisters.Get(dense, i)}");
        }

        plain.Clear();
        for (long i = 0; i < Rounds; i++)
        {
            (int index, int count) = HyperLogLog.Place((byte*)&i, sizeof(long));
            plain[index] = Math.Max(plain[index], (byte)count);
        }

        long estimate = CardinalityEstimate.Of(plain);
        return Math.Abs(estimate - Rounds) < Rounds / 20
            ? call.Ok()
            : call.FailText($"ERR TESTFAILED Too high error. card:{Rounds} hll:{estimate}");
    }
}
