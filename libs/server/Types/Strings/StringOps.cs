using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Server.Types.Strings;

/// <summary>Adds bytes at the end of a string, or makes one.</summary>
internal unsafe struct AppendBytes : IModify
{
    internal byte* Bytes;
    internal int Length;
    internal long BytesMax;

    /// <summary>Length of the string afterwards.</summary>
    internal long NewLength;
    internal bool WrongKind;
    internal bool TooLong;

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

/// <summary>Overwrites part of a string, padding with zero bytes up to the offset.</summary>
internal unsafe struct SetRangeBytes : IModify
{
    internal byte* Bytes;
    internal int Length;
    internal long Offset;
    internal long BytesMax;

    internal long NewLength;
    internal bool WrongKind;
    internal bool TooLong;

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

/// <summary>Copies the value out, then removes the key (GETDEL) or changes its expiry (GETEX).</summary>
internal struct TakeOrTouch : IModify
{
    internal ValueCopy Old;
    internal bool Remove;
    internal bool ChangesExpiry;
    internal long ExpireAtMs;
    internal bool Existed;

    public static byte OpId => 6;

    public readonly long EncodedBytesMax => 9;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        if (!Existed)
            return Verdict.Keep;
        if (!Old.IsNone)
        {
            Old.Look(in existing);
            if (Old.WrongKind || Old.TooSmall)
                return Verdict.Keep;
        }

        if (Remove)
            return Verdict.Remove;
        if (!ChangesExpiry || (ExpireAtMs == 0 && existing.ExpireAtMs == 0))
            return Verdict.Keep;
        next.ExpireAtMs = ExpireAtMs;
        return Verdict.PutFields;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)(Remove ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], ExpireAtMs);
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[0] > 1)
            return false;
        Remove = from[0] == 1;
        ChangesExpiry = true;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        return true;
    }
}
