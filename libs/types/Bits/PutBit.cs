using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Types.Bits;

/// <summary>Sets or clears a bit; the string grows up to it with zero bytes (SETBIT).</summary>
public struct PutBit : IModify
{
    public long Offset;
    public int Bit;

    public int Old;
    public bool WrongKind;

    public static byte OpId => 25;

    public readonly long EncodedBytesMax => 9;

    public unsafe Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        WrongKind = existing.Exists && existing.Kind != RecordKind.String;
        if (WrongKind)
            return Verdict.Keep;
        if (existing.Exists && Offset >> 3 < existing.ValueBytes)
        {
            Old = (int)Bitmap.Read(new ReadOnlySpan<byte>(existing.Value, existing.ValueBytes), Offset, 1);
            if (Old == Bit)
                return Verdict.Keep;
        }

        next.ValueBytes = Math.Max(existing.ValueBytes, (int)(Offset >> 3) + 1);
        return Verdict.Put;
    }

    public void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        Growing.Begin(existing, value, inPlace);
        Old = (int)Bitmap.Read(value, Offset, 1);
        Bitmap.Write(value, Offset, 1, (ulong)Bit);
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, Offset);
        to[8] = (byte)Bit;
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[8] > 1)
            return false;
        Offset = BinaryPrimitives.ReadInt64LittleEndian(from);
        Bit = from[8];
        return Offset >= 0 && Offset >> 3 < int.MaxValue;
    }
}
