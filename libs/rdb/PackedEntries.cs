using System.Buffers.Binary;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// What listpacks and ziplists share: a blob that says how long it is, a number of entries (65535: unknown) and 0xFF at the end; entries
/// are texts and integers. Does not move while its strings are used.
/// </summary>
internal unsafe struct PackedEntries
{
    private const int UnknownCount = ushort.MaxValue, CountBytes = 2;
    private const byte EndMark = 0xFF;

    private PackedDigits _digits;
    private byte* _end;
    private int _count, _seen;

    /// <summary>Where it stands.</summary>
    internal byte* At;

    /// <summary>True once the end has been met where it must be.</summary>
    internal bool IsSound { get; private set; }

    /// <summary>Begins; the number of entries stands at the end of the header.</summary>
    internal bool TryOpen(byte* blob, int bytes, int headerBytes)
    {
        if (bytes < headerBytes + 1 || BinaryPrimitives.ReadUInt32LittleEndian(new ReadOnlySpan<byte>(blob, 4)) != (uint)bytes
            || blob[bytes - 1] != EndMark)
            return false;
        _count = BinaryPrimitives.ReadUInt16LittleEndian(new ReadOnlySpan<byte>(blob + headerBytes - CountBytes, CountBytes));
        At = blob + headerBytes;
        _end = blob + bytes - 1;
        return true;
    }

    /// <summary>True while entries follow; each is counted.</summary>
    internal bool HasNext()
    {
        if (At != _end)
        {
            _seen++;
            return true;
        }

        IsSound = _count == UnknownCount || _seen == _count;
        return false;
    }

    /// <summary>True if so many bytes are left.</summary>
    internal readonly bool Has(int bytes) => _end - At >= bytes;

    /// <summary>An integer of so many bytes with its head.</summary>
    internal bool TryInteger(int bytes, long value, out Arg text)
    {
        text = _digits.TextOf(value);
        At += bytes;
        return true;
    }

    /// <summary>A text behind a head of so many bytes.</summary>
    internal bool TryText(int head, long bytes, out Arg text)
    {
        text = default;
        if (bytes > _end - At - head)
            return false;
        text = new Arg { Bytes = At + head, Length = (int)bytes };
        At += head + bytes;
        return true;
    }
}
