using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// A ziplist (Redis's ziplist.c, before 7.0): 0-3 bytes of all, 4-7 where the last entry begins, 8-9 number of entries (65535:
/// unknown), then entries of the length of the one before, encoding and data, then 0xFF.
/// </summary>
internal unsafe struct ZipList : IPacked
{
    private const int HeaderBytes = 10;
    private const byte EndMark = 0xFF, LongBefore = 0xFE;

    private PackedEntries _entries;
    private long _before;

    public readonly bool IsSound => _entries.IsSound;

    public bool TryOpen(byte* blob, int bytes) => _entries.TryOpen(blob, bytes, HeaderBytes);

    public bool Next(out Arg text)
    {
        text = default;
        byte* start = _entries.At;
        if (!_entries.HasNext() || !TryBefore() || !TryEntry(out text))
            return false;
        _before = _entries.At - start;
        return true;
    }

    private bool TryBefore()
    {
        long before = *_entries.At;
        int bytes = before == LongBefore ? 5 : 1;
        if (before == EndMark || !_entries.Has(bytes + 1))
            return false;
        if (bytes == 5)
            before = BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 4));
        _entries.At += bytes;
        return before == _before;
    }

    private bool TryEntry(out Arg text)
    {
        text = default;
        byte first = *_entries.At;
        switch (first >> 6)
        {
            case 0:
                return _entries.TryText(1, first & 0x3F, out text);
            case 1:
                return _entries.Has(2) && _entries.TryText(2, ((first & 0x3F) << 8) | _entries.At[1], out text);
            case 2:
                return _entries.Has(5)
                    && _entries.TryText(5, BinaryPrimitives.ReadUInt32BigEndian(new ReadOnlySpan<byte>(_entries.At + 1, 4)), out text);
        }

        switch (first)
        {
            case 0xC0:
                return _entries.Has(3) && _entries.TryInteger(3,
                    BinaryPrimitives.ReadInt16LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 2)), out text);
            case 0xD0:
                return _entries.Has(5) && _entries.TryInteger(5,
                    BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 4)), out text);
            case 0xE0:
                return _entries.Has(9) && _entries.TryInteger(9,
                    BinaryPrimitives.ReadInt64LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 8)), out text);
            case 0xF0:
                return _entries.Has(4)
                    && _entries.TryInteger(4, (_entries.At[1] | (_entries.At[2] << 8) | (_entries.At[3] << 16)) << 8 >> 8, out text);
            case 0xFE:
                return _entries.Has(2) && _entries.TryInteger(2, (sbyte)_entries.At[1], out text);
            case >= 0xF1 and <= 0xFD:
                return _entries.TryInteger(1, (first & 0xF) - 1, out text);
            default:
                return false;
        }
    }
}
