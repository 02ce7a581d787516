using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// Reads the parts RDB is made of from hostile bytes: whatever is not there in full is refused, and nothing is taken for a length
/// that the bytes cannot hold.
/// </summary>
public unsafe struct RdbCursor(byte* at, byte* end)
{
    private const int SpecialInt8 = 0, SpecialInt16 = 1, SpecialInt32 = 2, SpecialPacked = 3;
    private const long StringBytesMax = 512L << 20; // as proto-max-bulk-len

    private NativeArray<byte> _unpacked, _digits;

    /// <summary>Where it stands.</summary>
    public byte* At { get; private set; } = at;

    /// <summary>Behind the last byte.</summary>
    public byte* End { get; } = end;

    /// <summary>Bytes left.</summary>
    public readonly long Left => End - At;

    public bool TryByte(out byte value)
    {
        value = 0;
        if (Left < 1)
            return false;
        value = *At++;
        return true;
    }

    /// <summary>Passes over so many bytes and says where they begin.</summary>
    public bool TryBytes(long count, out byte* bytes)
    {
        bytes = At;
        if (count < 0 || count > Left)
            return false;
        At += count;
        return true;
    }

    public bool TryInt64(out long value)
    {
        bool there = TryBytes(8, out byte* bytes);
        value = there ? BinaryPrimitives.ReadInt64LittleEndian(new ReadOnlySpan<byte>(bytes, 8)) : 0;
        return there;
    }

    public bool TryDouble(out double value)
    {
        bool there = TryInt64(out long bits);
        value = BitConverter.Int64BitsToDouble(bits);
        return there;
    }

    /// <summary>A number that is no special form of a string.</summary>
    public bool TryLength(out ulong length) => TryLength(out length, out bool special) && !special;

    /// <summary>How many entries follow, of so many bytes each at least; more than the bytes can hold is refused.</summary>
    public bool TryCount(int entryBytesMin, out long count)
    {
        bool there = TryLength(out ulong length) && length <= (ulong)(Left / entryBytesMin);
        count = there ? (long)length : 0;
        return there;
    }

    /// <summary>A string in whatever form; valid until the next one is read.</summary>
    public bool TryString(out Arg text)
    {
        text = default;
        if (!TryLength(out ulong length, out bool special))
            return false;
        if (special)
            return length == SpecialPacked ? TryPacked(out text) : TryInteger((int)length, out text);
        if (length > StringBytesMax || !TryBytes((long)length, out byte* bytes))
            return false;
        text = new Arg { Bytes = bytes, Length = (int)length };
        return true;
    }

    /// <summary>Gives back what strings were unpacked into.</summary>
    public void Free()
    {
        _unpacked.Dispose();
        _digits.Dispose();
        _unpacked = _digits = default;
    }

    private bool TryLength(out ulong length, out bool special)
    {
        length = 0;
        special = false;
        if (!TryByte(out byte first))
            return false;
        switch (first >> 6)
        {
            case 0:
                length = (uint)first & 0x3F;
                return true;
            case 1:
                bool there = TryByte(out byte second);
                length = (((uint)first & 0x3F) << 8) | second;
                return there;
            case 3:
                length = (uint)first & 0x3F;
                special = true;
                return true;
            default:
                int size = first == 0x80 ? 4 : first == 0x81 ? 8 : 0;
                if (size == 0 || !TryBytes(size, out byte* bytes))
                    return false;
                length = size == 4
                    ? BinaryPrimitives.ReadUInt32BigEndian(new ReadOnlySpan<byte>(bytes, 4))
                    : BinaryPrimitives.ReadUInt64BigEndian(new ReadOnlySpan<byte>(bytes, 8));
                return true;
        }
    }

    private bool TryInteger(int form, out Arg text)
    {
        text = default;
        if (form > SpecialInt32 || !TryBytes(1 << form, out byte* bytes))
            return false;
        long value = form == SpecialInt8 ? *(sbyte*)bytes : form == SpecialInt16
            ? BinaryPrimitives.ReadInt16LittleEndian(new ReadOnlySpan<byte>(bytes, 2))
            : BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(bytes, 4));
        if (_digits.Items == null)
            _digits = new NativeArray<byte>(NumberText.Int64BytesMax + 12);
        text = new Arg { Bytes = _digits.Items, Length = (int)(NumberText.Write(_digits.Items, value) - _digits.Items) };
        return true;
    }

    private bool TryPacked(out Arg text)
    {
        text = default;
        if (!TryLength(out ulong packedBytes) || !TryLength(out ulong bytes) || !TryBytes((long)packedBytes, out byte* packed))
            return false;
        if (bytes > StringBytesMax || (long)bytes > (long)packedBytes * Lzf.ExpansionMax)
            return false;
        _unpacked.Dispose();
        _unpacked = default;
        _unpacked = new NativeArray<byte>(Math.Max((long)bytes, 1));
        text = new Arg { Bytes = _unpacked.Items, Length = (int)bytes };
        return Lzf.TryUnpack(new ReadOnlySpan<byte>(packed, (int)packedBytes), new Span<byte>(_unpacked.Items, (int)bytes));
    }
}
