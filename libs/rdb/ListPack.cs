using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// A listpack (Redis's listpack.md): 0-3 bytes of all, 4-5 number of entries (65535: unknown), then entries of encoding, data and
/// their length once more for reading backwards, then 0xFF.
/// </summary>
internal unsafe struct ListPack : IPacked
{
    private const int HeaderBytes = 6;

    private PackedEntries _entries;

    public readonly bool IsSound => _entries.IsSound;

    public bool TryOpen(byte* blob, int bytes) => _entries.TryOpen(blob, bytes, HeaderBytes);

    public bool Next(out Arg text)
    {
        text = default;
        byte* start = _entries.At;
        return _entries.HasNext() && TryEntry(out text) && TryBackwards((int)(_entries.At - start));
    }

    private bool TryEntry(out Arg text)
    {
        byte first = *_entries.At;
        text = default;
        if (first < 0x80)
            return _entries.TryInteger(1, first, out text);
        if (first < 0xC0)
            return _entries.TryText(1, first & 0x3F, out text);
        if (first < 0xE0)
            return _entries.Has(2) && _entries.TryInteger(2, (long)((ulong)(((first & 0x1F) << 8) | _entries.At[1]) << 51) >> 51, out text);
        if (first < 0xF0)
            return _entries.Has(2) && _entries.TryText(2, ((first & 0xF) << 8) | _entries.At[1], out text);
        switch (first)
        {
            case 0xF0:
                return _entries.Has(5) && _entries.TryText(5,
                    BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 4)), out text);
            case 0xF1:
                return _entries.Has(3) && _entries.TryInteger(3,
                    BinaryPrimitives.ReadInt16LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 2)), out text);
            case 0xF2:
                return _entries.Has(4)
                    && _entries.TryInteger(4, (_entries.At[1] | (_entries.At[2] << 8) | (_entries.At[3] << 16)) << 8 >> 8, out text);
            case 0xF3:
                return _entries.Has(5) && _entries.TryInteger(5,
                    BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 4)), out text);
            case 0xF4:
                return _entries.Has(9) && _entries.TryInteger(9,
                    BinaryPrimitives.ReadInt64LittleEndian(new ReadOnlySpan<byte>(_entries.At + 1, 8)), out text);
            default:
                return false;
        }
    }

    /// <summary>Bytes that the length of an entry takes behind it.</summary>
    internal static int BackwardBytes(int entryBytes) =>
        entryBytes < 1 << 7 ? 1 : entryBytes < (1 << 14) - 1 ? 2 : entryBytes < (1 << 21) - 1 ? 3 : entryBytes < (1 << 28) - 1 ? 4 : 5;

    /// <summary>One of the groups of seven bits of an entry's length: the highest first, all but the first with the top bit set.</summary>
    internal static int BackwardByte(int entryBytes, int group, int groups) =>
        (int)(((uint)entryBytes >> (7 * (groups - 1 - group))) & 0x7F) | (group == 0 ? 0 : 0x80);

    private bool TryBackwards(int entryBytes)
    {
        int groups = BackwardBytes(entryBytes);
        if (!_entries.Has(groups))
            return false;
        for (int i = 0; i < groups; i++)
        {
            if (_entries.At[i] != BackwardByte(entryBytes, i, groups))
                return false;
        }

        _entries.At += groups;
        return true;
    }
}
