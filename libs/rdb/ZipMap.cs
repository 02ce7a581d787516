using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// A zipmap (Redis's zipmap.c, before 2.6): 0 number of pairs (254 or more: unknown), then pairs of a key, its length before it, and a
/// value, its length and the number of unused bytes behind it before it; then 0xFF.
/// </summary>
internal unsafe struct ZipMap : IPacked
{
    private const byte EndMark = 0xFF, LongLength = 0xFE;

    private byte* _at;
    private byte* _end;
    private int _count, _seen;
    private bool _ended;

    public readonly bool IsSound => _ended;

    public bool TryOpen(byte* blob, int bytes)
    {
        if (bytes < 2 || blob[bytes - 1] != EndMark)
            return false;
        _count = *blob;
        _at = blob + 1;
        _end = blob + bytes - 1;
        return true;
    }

    public bool Next(out Arg text)
    {
        text = default;
        if (_at == _end)
        {
            _ended = _seen % 2 == 0 && (_count >= LongLength || _seen / 2 == _count);
            return false;
        }

        bool isValue = _seen++ % 2 != 0;
        if (!TryLength(out long bytes) || (isValue && _at == _end))
            return false;
        int unused = isValue ? *_at++ : 0;
        if (bytes + unused > _end - _at)
            return false;
        text = new Arg { Bytes = _at, Length = (int)bytes };
        _at += bytes + unused;
        return true;
    }

    private bool TryLength(out long bytes)
    {
        bytes = *_at;
        if (bytes == EndMark)
            return false;
        int size = bytes == LongLength ? 5 : 1;
        if (_end - _at < size)
            return false;
        if (size == 5)
            bytes = BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(_at + 1, 4));
        _at += size;
        return true;
    }
}
