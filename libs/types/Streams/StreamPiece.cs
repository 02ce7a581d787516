using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Puts a part of a stream as it is under a key: its root, where there is nothing, then its chunks. So a stream goes to another key
/// (COPY, RENAME, MOVE) with its groups and all they know; nothing in a root or chunk says where it lies.
/// </summary>
public unsafe struct StreamPiece : IEdit
{
    /// <summary>Says that the part is the root.</summary>
    public const uint Root = uint.MaxValue;

    public uint Number;
    public byte* Bytes;
    public int Length;

    public static byte OpId => 33;

    public readonly long EncodedBytesMax => sizeof(uint) + Length;

    public readonly bool Run(ref RecordEdit edit)
    {
        if (Number == Root)
            return TryPutRoot(ref edit);
        if (!edit.Exists || edit.Kind != RecordKind.Stream)
            return false;
        byte* chunk = edit.WriteChunk(Number, Length);
        if (chunk == null)
            return false;
        Buffer.MemoryCopy(Bytes, chunk, Length, Length);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Number);
        new ReadOnlySpan<byte>(Bytes, Length).CopyTo(to[sizeof(uint)..]);
        return sizeof(uint) + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < sizeof(uint))
            return false;
        Number = BinaryPrimitives.ReadUInt32LittleEndian(from);
        Bytes = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + sizeof(uint);
        Length = from.Length - sizeof(uint);
        return Number != Root || Length >= StreamHeader.Bytes;
    }

    private readonly bool TryPutRoot(ref RecordEdit edit)
    {
        if (edit.Exists || !StreamForm.TryCreate(ref edit))
            return false;
        byte* root = edit.Write(Length);
        if (root == null)
        {
            edit.Remove();
            return false;
        }

        Buffer.MemoryCopy(Bytes, root, Length, Length);
        edit.Close();
        return true;
    }
}
