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
        byte* length = stackalloc byte[VarInt.BytesMax];
        to.Append(length, (int)(VarInt.Write(length, (uint)bytes.Length) - length));
        to.Append(bytes);
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
        byte* length = stackalloc byte[VarInt.BytesMax];
        to.Append(length, (int)(VarInt.Write(length, (uint)(head.Length + body.Length)) - length));
        to.Append(head);
        to.Append(body);
    }
}
