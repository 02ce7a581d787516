using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Types.Keys;

/// <summary>Puts a whole record under a key, replacing what is there: RENAME, COPY and MOVE as the log sees them.</summary>
public unsafe struct PutRecord : IModify
{
    public RecordKind Kind;
    public byte* Value;
    public int Length;
    public long ExpireAtMs;
    public ulong ETag;

    public static byte OpId => 7;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;

    public readonly bool IsBlind => true;

    public readonly long EncodedBytesMax => 17 + Length;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.Kind = Kind;
        next.ValueBytes = Length;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
        new ReadOnlySpan<byte>(Value, Length).CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Kind;
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], ExpireAtMs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[9..], ETag);
        new ReadOnlySpan<byte>(Value, Length).CopyTo(to[17..]);
        return 17 + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 17 || from[0] is 0 or > (byte)RecordKind.Stream)
            return false;
        Kind = (RecordKind)from[0];
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        ETag = BinaryPrimitives.ReadUInt64LittleEndian(from[9..]);
        Length = from.Length - 17;
        Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 17;
        return ValueCheck.IsSound(Kind, Value, Length);
    }
}
