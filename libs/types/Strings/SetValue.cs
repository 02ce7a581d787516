using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>
/// Sets a string: the one operation behind SET and its relatives. Conditions are judged on the primary; what is logged is
/// the unconditional result with its absolute expiry.
/// </summary>
public unsafe struct SetValue : IModify
{
    // What stands in the log before the value; most values have neither, and the log is written for each.
    private const byte LogsExpiry = 1, LogsETag = 2;

    public byte* Value;
    public int Length;
    public long ExpireAtMs;
    public ulong ETag;
    public bool KeepExpiry;
    public SetCondition Condition;
    public byte* Operand;
    public int OperandLength;
    public bool WantsOld;
    public ValueCopy Old;

    /// <summary>True if there was a live record.</summary>
    public bool Existed;
    /// <summary>True if the value was set.</summary>
    public bool Applied;
    /// <summary>True if the record there is no string and that matters.</summary>
    public bool WrongKind;

    public static byte OpId => 43;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;

    public readonly bool IsBlind => Condition == SetCondition.Always && !KeepExpiry && !WantsOld;

    public readonly long EncodedBytesMax => 1 + sizeof(long) + sizeof(ulong) + Length;

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
        else if (Value != System.Runtime.CompilerServices.Unsafe.AsPointer(ref value[0])) // else it lies where it gathered (StagedValue)
            Buffer.MemoryCopy(Value, System.Runtime.CompilerServices.Unsafe.AsPointer(ref value[0]), value.Length, Length);
    }

    public readonly int Encode(Span<byte> to)
    {
        int at = 1;
        to[0] = 0;
        if (ExpireAtMs != 0)
        {
            to[0] |= LogsExpiry;
            BinaryPrimitives.WriteInt64LittleEndian(to[at..], ExpireAtMs);
            at += sizeof(long);
        }

        if (ETag != 0)
        {
            to[0] |= LogsETag;
            BinaryPrimitives.WriteUInt64LittleEndian(to[at..], ETag);
            at += sizeof(ulong);
        }

        new ReadOnlySpan<byte>(Value, Length).CopyTo(to[at..]);
        return at + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] > (LogsExpiry | LogsETag))
            return false;
        bool hasExpiry = (from[0] & LogsExpiry) != 0, hasETag = (from[0] & LogsETag) != 0;
        int at = 1 + (hasExpiry ? sizeof(long) : 0), valueAt = at + (hasETag ? sizeof(ulong) : 0);
        if (from.Length < valueAt)
            return false;
        ExpireAtMs = hasExpiry ? BinaryPrimitives.ReadInt64LittleEndian(from[1..]) : 0;
        ETag = hasETag ? BinaryPrimitives.ReadUInt64LittleEndian(from[at..]) : 0;
        Length = from.Length - valueAt;
        Value = (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(
            ref System.Runtime.InteropServices.MemoryMarshal.GetReference(from)) + valueAt;
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
