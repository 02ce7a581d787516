using Garnet.Common.Bytes;

namespace Garnet.Types.Collections;

/// <summary>
/// Gathers byte strings in the form that <see cref="Operands.TryDecode"/> reads.
/// collections.O1: a queue holds whole byte strings and nothing else.
/// </summary>
public static unsafe class OperandText
{
    public static void Append(ref ByteQueue to, ReadOnlySpan<byte> bytes)
    {
        byte* start = to.Reserve(VarInt.BytesMax + bytes.Length), at = VarInt.Write(start, (uint)bytes.Length);
        bytes.CopyTo(new Span<byte>(at, bytes.Length));
        to.Commit((int)(at - start) + bytes.Length);
    }

    /// <summary>What was gathered; true until the queue changes.</summary>
    public static Operands Read(in ByteQueue gathered)
    {
        bool isWhole = Operands.TryDecode(new ReadOnlySpan<byte>(gathered.Head, gathered.Count), out Operands operands);
        Garnet.Common.Faults.Check.That(isWhole, "collections.O1 what was gathered is whole");
        return operands;
    }

    /// <summary>One byte string of two parts.</summary>
    public static void Append(ref ByteQueue to, ReadOnlySpan<byte> head, ReadOnlySpan<byte> body)
    {
        int bytes = checked(head.Length + body.Length);
        byte* start = to.Reserve(VarInt.BytesMax + bytes), at = VarInt.Write(start, (uint)bytes);
        head.CopyTo(new Span<byte>(at, bytes));
        body.CopyTo(new Span<byte>(at + head.Length, body.Length));
        to.Commit((int)(at - start) + bytes);
    }
}
