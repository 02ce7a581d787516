using System.Buffers.Binary;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Server.Types.Strings;

/// <summary>When a SET takes effect.</summary>
internal enum SetCondition : byte
{
    Always,
    /// <summary>NX: only a key that is not there.</summary>
    IfAbsent,
    /// <summary>XX: only a key that is there.</summary>
    IfPresent,
    /// <summary>IFEQ: only if the value equals.</summary>
    IfEqual,
    /// <summary>IFNE: only if it does not (or is not there).</summary>
    IfNotEqual,
    /// <summary>IFDEQ: only if the digest of the value equals.</summary>
    IfDigestEqual,
    /// <summary>IFDNE: only if it does not.</summary>
    IfDigestNotEqual,
}

/// <summary>
/// Sets a string: the one operation behind SET and its relatives. Conditions are judged on the primary; what is logged is
/// the unconditional result with its absolute expiry.
/// </summary>
internal unsafe struct SetValue : IModify
{
    internal byte* Value;
    internal int Length;
    internal long ExpireAtMs;
    internal ulong ETag;
    internal bool KeepExpiry;
    internal SetCondition Condition;
    internal byte* Operand;
    internal int OperandLength;
    internal bool WantsOld;
    internal ValueCopy Old;

    /// <summary>True if there was a live record.</summary>
    internal bool Existed;
    /// <summary>True if the value was set.</summary>
    internal bool Applied;
    /// <summary>True if the record there is no string and that matters.</summary>
    internal bool WrongKind;

    public static byte OpId => 2;

    public readonly int EncodedBytesMax => 16 + Length;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        if (WantsOld && Existed)
        {
            Old.Look(in existing);
            WrongKind = Old.WrongKind;
            if (WrongKind || Old.TooSmall)
                return Verdict.Keep;
        }

        if (Condition != SetCondition.Always && !Holds(in existing))
            return Verdict.Keep;
        Applied = true;
        next.Kind = RecordKind.String;
        next.ValueBytes = Length;
        next.ETag = ETag;
        next.ExpireAtMs = KeepExpiry ? existing.ExpireAtMs : ExpireAtMs;
        ExpireAtMs = next.ExpireAtMs;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        if (Length <= 256)
            new ReadOnlySpan<byte>(Value, Length).CopyTo(value);
        else
            Buffer.MemoryCopy(Value, System.Runtime.CompilerServices.Unsafe.AsPointer(ref value[0]), value.Length, Length);
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, ExpireAtMs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], ETag);
        new ReadOnlySpan<byte>(Value, Length).CopyTo(to[16..]);
        return 16 + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 16)
            return false;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        ETag = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]);
        Length = from.Length - 16;
        Value = (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref System.Runtime.InteropServices.MemoryMarshal.GetReference(from)) + 16;
        return true;
    }

    private bool Holds(in RecordView existing)
    {
        if (Condition == SetCondition.IfAbsent)
            return !existing.Exists;
        if (!existing.Exists)
            return Condition is SetCondition.IfNotEqual or SetCondition.IfDigestNotEqual;
        if (Condition == SetCondition.IfPresent)
            return true;
        WrongKind = existing.Kind != RecordKind.String;
        if (WrongKind)
            return false;
        return ValueCondition.Holds(Condition, existing.ValueSpan, new ReadOnlySpan<byte>(Operand, OperandLength));
    }
}
