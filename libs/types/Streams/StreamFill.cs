using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Adds entries with the same names, their ids given (RESTORE); makes the stream if there is none, even for no entry at all. Logged with
/// those that were added: each its id, then as many values as there are names.
/// </summary>
public unsafe struct StreamFill : IEdit
{
    public Operands Names;
    public byte* Entries;
    public int Length;
    public StreamLimits Limits;

    public static byte OpId => 39;

    public readonly long EncodedBytesMax => (long)sizeof(int) + Names.EncodedBytes() + Length;

    public bool Run(ref RecordEdit edit)
    {
        if (edit.Exists && edit.Kind != RecordKind.Stream)
            return false;
        bool isNew = !edit.Exists;
        if (isNew && !StreamForm.TryCreate(ref edit))
            return false;
        using var fields = new NativeArray<Arg>((Names.Count * 2L) + 1);
        byte* at = Entries, end = Entries + Length;
        while (at < end && TryAppend(ref edit, ref at, fields.Items))
        {
        }

        Length = (int)(at - Entries);
        return isNew || Length > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        int bytes = Names.Encode(to[sizeof(int)..]);
        BinaryPrimitives.WriteInt32LittleEndian(to, bytes);
        new ReadOnlySpan<byte>(Entries, Length).CopyTo(to[(sizeof(int) + bytes)..]);
        return sizeof(int) + bytes + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < sizeof(int))
            return false;
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(from);
        from = from[sizeof(int)..];
        if (bytes < 0 || bytes > from.Length || !Operands.TryDecode(from[..bytes], out Names))
            return false;
        Entries = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + bytes;
        Length = from.Length - bytes;
        if (Names.Count == 0 && Length > 0)
            return false;
        Limits = StreamLimits.Replay;
        byte* at = Entries;
        while (at < Entries + Length)
        {
            if (!TrySkip(ref at, Entries + Length, Names.Count))
                return false;
        }

        return true;
    }

    /// <summary>Passes over an entry; false if it is not whole.</summary>
    public static bool TrySkip(ref byte* at, byte* end, int values)
    {
        if (end - at < StreamIds.IdBytes)
            return false;
        at += StreamIds.IdBytes;
        for (; values > 0; values--)
        {
            if (!VarInt.TryRead(ref at, end, out uint length) || length > end - at)
                return false;
            at += length;
        }

        return true;
    }

    private readonly bool TryAppend(ref RecordEdit edit, ref byte* at, Arg* fields)
    {
        StreamId id = Unsafe.ReadUnaligned<StreamId>(at);
        if (id <= StreamForm.Header(ref edit)->Last)
            return false;
        byte* next = at + StreamIds.IdBytes;
        Arg* field = fields;
        for (Operands.Reader name = Names.Read(); name.Next();)
        {
            *field++ = new Arg { Bytes = name.Bytes, Length = name.Length };
            VarInt.TryRead(ref next, (byte*)nuint.MaxValue, out uint length);
            *field++ = new Arg { Bytes = next, Length = (int)length };
            next += length;
        }

        if (!StreamForm.TryAppend(ref edit, id, new Operands(fields, Names.Count * 2), Limits))
            return false;
        at = next;
        return true;
    }
}
