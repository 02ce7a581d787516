using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Server.Rdb;

/// <summary>
/// A listpack (Redis's listpack.md): 0-3 bytes of all, 4-5 number of entries (65535: unknown), then entries of encoding, data and
/// their length once more for reading backwards, then 0xFF.
/// </summary>
internal unsafe struct ListPack : IPacked
{
    private const int HeaderBytes = 6, UnknownCount = ushort.MaxValue;
    private const byte EndMark = 0xFF;

    private PackedDigits _digits;
    private byte* _at;
    private byte* _end;
    private int _count, _seen;
    private bool _ended;

    public readonly bool IsSound => _ended;

    public bool TryOpen(byte* blob, int bytes)
    {
        if (bytes < HeaderBytes + 1 || BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(blob, 4)) != (uint)bytes || blob[bytes - 1] != EndMark)
            return false;
        _count = BinaryPrimitives.ReadUInt16LittleEndian(new ReadOnlySpan<byte>(blob + 4, 2));
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
        if (!TryEntry(out text) || !TryBackwards((int)(_at - start)))
            return false;
        _seen++;
        return true;
    }

    private bool TryEntry(out Arg text)
    {
        byte first = *_at;
        text = default;
        if (first < 0x80)
            return TryInteger(1, first, out text);
        if (first < 0xC0)
            return TryText(1, first & 0x3F, out text);
        if (first < 0xE0)
            return Has(2) && TryInteger(2, (long)((ulong)(((first & 0x1F) << 8) | _at[1]) << 51) >> 51, out text);
        if (first < 0xF0)
            return Has(2) && TryText(2, ((first & 0xF) << 8) | _at[1], out text);
        switch (first)
        {
            case 0xF0:
                return Has(5) && TryText(5, BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(_at + 1, 4)), out text);
            case 0xF1:
                return Has(3) && TryInteger(3, BinaryPrimitives.ReadInt16LittleEndian(new ReadOnlySpan<byte>(_at + 1, 2)), out text);
            case 0xF2:
                return Has(4) && TryInteger(4, (_at[1] | (_at[2] << 8) | (_at[3] << 16)) << 8 >> 8, out text);
            case 0xF3:
                return Has(5) && TryInteger(5, BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(_at + 1, 4)), out text);
            case 0xF4:
                return Has(9) && TryInteger(9, BinaryPrimitives.ReadInt64LittleEndian(new ReadOnlySpan<byte>(_at + 1, 8)), out text);
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

    // The entry's length in groups of seven bits, the highest first, all but the first with the top bit set.
    private bool TryBackwards(int entryBytes)
    {
        int groups = entryBytes < 1 << 7 ? 1 : entryBytes < (1 << 14) - 1 ? 2 : entryBytes < (1 << 21) - 1 ? 3 : entryBytes < (1 << 28) - 1 ? 4 : 5;
        if (!Has(groups))
            return false;
        for (int i = 0; i < groups; i++)
        {
            int bits = (int)(((uint)entryBytes >> (7 * (groups - 1 - i))) & 0x7F);
            if (_at[i] != (i == 0 ? bits : bits | 0x80))
                return false;
        }

        _at += groups;
        return true;
    }
}
