using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>Adds bytes at the end of a string, or makes one.</summary>
public unsafe struct AppendBytes : IModify
{
    public byte* Bytes;
    public int Length;
    public long BytesMax;

    /// <summary>Length of the string afterwards.</summary>
    public long NewLength;
    public bool WrongKind;
    public bool TooLong;

    public static byte OpId => 4;

    public readonly long EncodedBytesMax => Length;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        WrongKind = existing.Exists && existing.Kind != RecordKind.String;
        NewLength = (long)existing.ValueBytes + Length;
        TooLong = NewLength > BytesMax;
        if (WrongKind || TooLong)
            return Verdict.Keep;
        next.ValueBytes = (int)NewLength;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        int old = value.Length - Length;
        if (!inPlace)
            new ReadOnlySpan<byte>(existing.Value, old).CopyTo(value);
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(value[old..]);
    }

    public readonly int Encode(Span<byte> to)
    {
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(to);
        return Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        Bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from));
        Length = from.Length;
        BytesMax = int.MaxValue;
        return true;
    }
}
