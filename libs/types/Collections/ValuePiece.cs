using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// A part of a value with chunks as it is, for an <see cref="IPiece"/> to put under a key: the root, where there is nothing, then the chunks. For values of
/// which nothing in a root or chunk says where it lies. Whoever reads pieces from a log judges what they came to.
/// </summary>
public unsafe struct ValuePiece
{
    /// <summary>Says that the part is the root.</summary>
    public const uint Root = uint.MaxValue;

    public uint Number;
    public byte* Bytes;
    public int Length;

    public readonly long EncodedBytesMax => sizeof(uint) + Length;

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Number);
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(to[sizeof(uint)..]);
        return sizeof(uint) + Length;
    }

    /// <summary>Reads what <see cref="Encode"/> wrote; false if it cannot be, or is a root shorter than the kind's are.</summary>
    public bool TryDecode(ReadOnlySpan<byte> from, int rootBytesMin)
    {
        if (from.Length < sizeof(uint))
            return false;
        Number = BinaryPrimitives.ReadUInt32LittleEndian(from);
        Bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + sizeof(uint);
        Length = from.Length - sizeof(uint);
        return Number != Root || Length >= rootBytesMin;
    }

    /// <summary>Puts it under the key; false if there was no memory, or something else is there.</summary>
    public readonly bool TryPut(ref RecordEdit edit, RecordKind kind)
    {
        if (Number == Root)
            return TryPutRoot(ref edit, kind);
        if (!edit.Exists || edit.Kind != kind)
            return false;
        byte* chunk = edit.WriteChunk(Number, Length);
        if (chunk == null)
            return false;
        Buffer.MemoryCopy(Bytes, chunk, Length, Length);
        return true;
    }

    private readonly bool TryPutRoot(ref RecordEdit edit, RecordKind kind)
    {
        if (edit.Exists)
            return false;
        edit.TakeOwner();
        byte* root = edit.Create(kind, Length);
        if (root == null)
        {
            edit.DropOwner();
            return false;
        }

        Buffer.MemoryCopy(Bytes, root, Length, Length);
        edit.Close();
        return true;
    }
}
