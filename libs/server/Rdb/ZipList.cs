using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Server.Rdb;

/// <summary>
/// A ziplist (Redis's ziplist.c, before 7.0): 0-3 bytes of all, 4-7 where the last entry begins, 8-9 number of entries (65535:
/// unknown), then entries of the length of the one before, encoding and data, then 0xFF.
/// </summary>
internal unsafe struct ZipList : IPacked
{
    private const int HeaderBytes = 10, UnknownCount = ushort.MaxValue;
    private const byte EndMark = 0xFF, LongBefore = 0xFE;

    private PackedDigits _digits;
    private byte* _at;
    private byte* _end;
    private long _before;
    private int _count, _seen;
    private bool _ended;

    public readonly bool IsSound => _ended;

    public bool TryOpen(byte* blob, int bytes)
    {
        if (bytes < HeaderBytes + 1 || BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(blob, 4)) != (uint)bytes || blob[bytes - 1] != EndMark)
            return false;
        _count = BinaryPrimitives.ReadUInt16LittleEndian(new ReadOnlySpan<byte>(blob + 8, 2));
        _at = blob + HeaderBytes;
        _end = blob + bytes - 1;
        return true;
    }

    public bool Next(out Arg text)
    {
        text = default;
        if (_at == _end)
        {
            _ended = _count == UnknownCount || _seen == _count;
            return false;
        }

        byte* start = _at;
        if (!TryBefore() || !TryEntry(out text))
            return false;
        _before = _at - start;
        _seen++;
        return true;
    }

    private bool TryBefore()
    {
        long before = *_at;
        int bytes = before == LongBefore ? 5 : 1;
        if (before == EndMark || !Has(bytes + 1))
            return false;
        if (bytes == 5)
            before = BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(_at + 1, 4));
        _at += bytes;
        return before == _before;
    }

    private bool TryEntry(out Arg text)
    {
        text = default;
        byte first = *_at;
        switch (first >> 6)
        {
            case 0:
                return TryText(1, first & 0x3F, out text);
            case 1:
                return Has(2) && TryText(2, ((first & 0x3F) << 8) | _at[1], out text);
            case 2:
                return Has(5) && TryText(5, BinaryPrimitives.ReadUInt32BigEndian(new ReadOnlySpan<byte>(_at + 1, 4)), out text);
        }

        switch (first)
        {
            case 0xC0:
                return Has(3) && TryInteger(3, BinaryPrimitives.ReadInt16LittleEndian(new ReadOnlySpan<byte>(_at + 1, 2)), out text);
            case 0xD0:
                return Has(5) && TryInteger(5, BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(_at + 1, 4)), out text);
            case 0xE0:
                return Has(9) && TryInteger(9, BinaryPrimitives.ReadInt64LittleEndian(new ReadOnlySpan<byte>(_at + 1, 8)), out text);
            case 0xF0:
                return Has(4) && TryInteger(4, (_at[1] | (_at[2] << 8) | (_at[3] << 16)) << 8 >> 8, out text);
            case 0xFE:
                return Has(2) && TryInteger(2, (sbyte)_at[1], out text);
            case >= 0xF1 and <= 0xFD:
                return TryInteger(1, (first & 0xF) - 1, out text);
            default:
                return false;
        }
    }

    private readonly bool Has(int bytes) => _end - _at >= bytes;

    private bool TryInteger(int bytes, long value, out Arg text)
    {
        text = _digits.TextOf(value);
        _at += bytes;
        return true;
    }

    private bool TryText(int head, long bytes, out Arg text)
    {
        text = default;
        if (bytes > _end - _at - head)
            return false;
        text = new Arg { Bytes = _at + head, Length = (int)bytes };
        _at += head + bytes;
        return true;
    }
}
