using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;

namespace Garnet.Types.Collections;

/// <summary>
/// A list of byte strings for an operation: arguments of a command, or what the log keeps of them (each its length as
/// <see cref="VarInt"/>, then its bytes). Read from the front as often as wanted.
/// </summary>
public unsafe struct Operands
{
    private Arg* _args;
    private byte* _encoded;
    private byte* _end;
    private bool _isCut;

    /// <summary>Number of byte strings.</summary>
    public int Count { get; private set; }

    /// <summary>The arguments from <paramref name="first"/> on.</summary>
    public Operands(Arg* first, int count)
    {
        _args = first;
        Count = count;
    }

    /// <summary>Byte strings in the log's form; false if they are not whole.</summary>
    public static bool TryDecode(ReadOnlySpan<byte> from, out Operands operands)
    {
        byte* start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from));
        operands = new Operands { _encoded = start, _end = start + from.Length };
        for (byte* at = start; at < operands._end; operands.Count++)
        {
            if (!VarInt.TryRead(ref at, operands._end, out uint bytes) || bytes > operands._end - at)
                return false;
            at += bytes;
        }

        return true;
    }

    /// <summary>Keeps the first ones only.</summary>
    public void Truncate(int count)
    {
        if (count >= Count)
            return;
        Count = count;
        _isCut = true;
    }

    /// <summary>A reader that stands before the first.</summary>
    public readonly Reader Read() => new() { Arg = _args, At = _encoded, Left = Count };

    /// <summary>Bytes of the log's form at most: what came in it, and is whole, may have longer lengths than it needs.</summary>
    public readonly long EncodedBytes()
    {
        if (_encoded != null && !_isCut)
            return _end - _encoded;
        long bytes = 0;
        for (Reader reader = Read(); reader.Next();)
            bytes += VarInt.BytesOf((uint)reader.Length) + (long)reader.Length;
        return bytes;
    }

    /// <summary>Writes the log's form; returns the bytes used.</summary>
    public readonly int Encode(Span<byte> to)
    {
        fixed (byte* start = to)
        {
            byte* at = start;
            for (Reader reader = Read(); reader.Next(); at += reader.Length)
            {
                at = VarInt.Write(at, (uint)reader.Length);
                Buffer.MemoryCopy(reader.Bytes, at, reader.Length, reader.Length);
            }

            return (int)(at - start);
        }
    }

    /// <summary>Goes through the byte strings.</summary>
    public struct Reader
    {
        public Arg* Arg;
        public byte* At;
        public int Left;

        /// <summary>The current byte string.</summary>
        public byte* Bytes;
        public int Length;

        public readonly ReadOnlySpan<byte> Span => new(Bytes, Length);

        public bool Next()
        {
            if (Left-- <= 0)
                return false;
            if (Arg != null)
            {
                Bytes = Arg->Bytes;
                Length = Arg->Length;
                Arg++;
                return true;
            }

            VarInt.TryRead(ref At, (byte*)nuint.MaxValue, out uint bytes);
            Bytes = At;
            Length = (int)bytes;
            At += bytes;
            return true;
        }
    }
}
