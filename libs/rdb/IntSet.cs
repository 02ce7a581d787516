using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>An intset of Redis: 0-3 bytes of a member, 4-7 number of members, then the members in order.</summary>
internal unsafe struct IntSet : IPacked
{
    private const int HeaderBytes = 8;

    private PackedDigits _digits;
    private byte* _at;
    private byte* _end;
    private int _size;
    private long _before;
    private bool _began, _ended;

    public readonly bool IsSound => _ended;

    public bool TryOpen(byte* blob, int bytes)
    {
        if (bytes < HeaderBytes)
            return false;
        _size = BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(blob, 4));
        long count = BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(blob + 4, 4));
        _at = blob + HeaderBytes;
        _end = blob + bytes;
        return _size is 2 or 4 or 8 && count * _size == bytes - HeaderBytes;
    }

    public bool Next(out Arg text)
    {
        text = default;
        _ended = _at == _end;
        if (_ended)
            return false;
        var member = new ReadOnlySpan<byte>(_at, _size);
        long value = _size == 2 ? BinaryPrimitives.ReadInt16LittleEndian(member)
            : _size == 4 ? BinaryPrimitives.ReadInt32LittleEndian(member)
            : BinaryPrimitives.ReadInt64LittleEndian(member);
        if (_began && value <= _before)
            return false;
        _began = true;
        _before = value;
        _at += _size;
        text = _digits.TextOf(value);
        return true;
    }
}
