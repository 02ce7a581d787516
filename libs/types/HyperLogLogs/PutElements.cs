using System.Buffers.Binary;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.HyperLogLogs;

/// <summary>Adds elements to a HyperLogLog, or makes an empty one (PFADD).</summary>
public unsafe struct PutElements : IModify
{
    // Room for a dense value; a sparse one may be set to become larger.
    private const int ScratchBytes = 64 * 1024;

    [ThreadStatic]
    private static byte[]? _scratch; // no more than this for each thread, and goes with it

    public Operands Elements;
    public int SparseBytesMax;

    /// <summary>The value is another one than before.</summary>
    public bool Changed;
    public HyperLogLogFault Fault;

    public static byte OpId => 28;

    public readonly long EncodedBytesMax => 4 + Elements.EncodedBytes();

    /// <summary>Memory for a value of this thread's, overwritten by the next one.</summary>
    public static Span<byte> Scratch => _scratch ??= new byte[ScratchBytes];

    /// <summary>What is wrong with a record as a HyperLogLog.</summary>
    public static HyperLogLogFault FaultOf(in RecordView record) =>
        record.Kind != RecordKind.String ? HyperLogLogFault.WrongKind
        : !HyperLogLog.Is(record.ValueSpan) || record.ValueBytes > ScratchBytes / 2 ? HyperLogLogFault.Foreign
        : HyperLogLogFault.None;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Fault = existing.Exists ? FaultOf(existing) : HyperLogLogFault.None;
        if (Fault != HyperLogLogFault.None)
            return Verdict.Keep;
        Span<byte> scratch = Scratch;
        int length = existing.ValueBytes;
        if (existing.Exists)
            existing.ValueSpan.CopyTo(scratch);
        else
            length = HyperLogLog.WriteEmpty(scratch);
        Changed = !existing.Exists;
        int raised = 0;
        for (Operands.Reader reader = Elements.Read(); reader.Next();)
        {
            int result = HyperLogLog.Raise(scratch, ref length, HyperLogLog.Place(reader.Bytes, reader.Length), SparseBytesMax);
            if (result < 0)
            {
                Fault = HyperLogLogFault.Damaged;
                return Verdict.Keep;
            }

            raised += result;
        }

        Changed |= raised > 0;
        if (!Changed)
            return Verdict.Keep;
        HyperLogLog.Invalidate(scratch);
        next.ValueBytes = length;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => Scratch[..value.Length].CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt32LittleEndian(to, SparseBytesMax);
        return 4 + Elements.Encode(to[4..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 4)
            return false;
        SparseBytesMax = BinaryPrimitives.ReadInt32LittleEndian(from);
        return SparseBytesMax >= 0 && Operands.TryDecode(from[4..], out Elements);
    }
}
