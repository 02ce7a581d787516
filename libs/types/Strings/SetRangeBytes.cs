using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>Overwrites part of a string, padding with zero bytes up to the offset.</summary>
public unsafe struct SetRangeBytes : IModify
{
    public byte* Bytes;
    public int Length;
    public long Offset;
    public long BytesMax;

    public long NewLength;
    public bool WrongKind;
    public bool TooLong;

    public static byte OpId => 5;

    public readonly long EncodedBytesMax => 8 + Length;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        WrongKind = existing.Exists && existing.Kind != RecordKind.String;
        NewLength = existing.ValueBytes;
        if (WrongKind || Length == 0)
            return Verdict.Keep;
        TooLong = Offset + Length > BytesMax;
        if (TooLong)
            return Verdict.Keep;
        NewLength = Math.Max(existing.ValueBytes, Offset + Length);
        next.ValueBytes = (int)NewLength;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        int old = existing.ValueBytes;
        if (!inPlace)
            new ReadOnlySpan<byte>(existing.Value, old).CopyTo(value);
        if (Offset > old)
            value[old..(int)Offset].Clear();
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(value[(int)Offset..]);
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, Offset);
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(to[8..]);
        return 8 + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 8)
            return false;
        Offset = BinaryPrimitives.ReadInt64LittleEndian(from);
        Length = from.Length - 8;
        Bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 8;
        BytesMax = int.MaxValue;
        return Offset is >= 0 and <= Store.ValueBytesMax && Offset + Length <= Store.ValueBytesMax;
    }
}
