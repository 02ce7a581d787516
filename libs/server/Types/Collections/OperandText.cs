using Garnet.Server.Net;

namespace Garnet.Server.Types.Collections;

/// <summary>Gathers byte strings in the form that <see cref="Operands.TryDecode"/> reads.</summary>
internal static unsafe class OperandText
{
    internal static void Append(ref ByteQueue to, ReadOnlySpan<byte> bytes)
    {
        byte* length = stackalloc byte[VarInt.BytesMax];
        to.Append(length, (int)(VarInt.Write(length, (uint)bytes.Length) - length));
        to.Append(bytes);
    }

    /// <summary>One byte string of two parts.</summary>
    internal static void Append(ref ByteQueue to, ReadOnlySpan<byte> head, ReadOnlySpan<byte> body)
    {
        byte* length = stackalloc byte[VarInt.BytesMax];
        to.Append(length, (int)(VarInt.Write(length, (uint)(head.Length + body.Length)) - length));
        to.Append(head);
        to.Append(body);
    }
}
