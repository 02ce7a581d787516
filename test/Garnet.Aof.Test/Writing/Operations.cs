using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Aof.Test.Writing;

/// <summary>Sets a value; the arguments are the value.</summary>
internal struct Put : IModify
{
    public const byte Id = 240;
    public byte[] Value;
    public static byte OpId => Id;
    public readonly long EncodedBytesMax => Value.Length;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.ValueBytes = Value.Length;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => Value.CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        Value.CopyTo(to);
        return Value.Length;
    }

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
}

/// <summary>Adds to a number of 64 bits; the arguments are what is added, the result, and a note of the test's.</summary>
internal unsafe struct Add : IModify
{
    public const byte Id = 241;
    public const int ArgumentBytes = 24;
    public long By, Result, Note;
    public static byte OpId => Id;
    public readonly long EncodedBytesMax => ArgumentBytes + 40; // more than needed: the log keeps what is used

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Result = By + (existing.Kind == RecordKind.None ? 0 : *(long*)existing.Value);
        next.ValueBytes = sizeof(long);
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
        BinaryPrimitives.WriteInt64LittleEndian(value, Result);

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, By);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], Result);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], Note);
        return ArgumentBytes;
    }

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
}

/// <summary>Reads a number of 64 bits.</summary>
internal unsafe struct Look : IRead
{
    public long Value;

    void IRead.Look(in RecordView record) => Value = *(long*)record.Value;
}
