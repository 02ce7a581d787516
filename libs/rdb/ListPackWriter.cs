using System.Buffers.Binary;
using Garnet.Common.Bytes;

namespace Garnet.Rdb;

/// <summary>Makes a listpack, as <see cref="ListPack"/> reads it.</summary>
internal unsafe struct ListPackWriter
{
    private const int HeaderBytes = 6, UnknownCount = ushort.MaxValue;
    private const byte EndMark = 0xFF;

    private ByteQueue _bytes;
    private int _count;

    /// <summary>Bytes so far; 0 before the first entry.</summary>
    internal readonly int Bytes => _bytes.Count;

    /// <summary>The listpack, once it is closed.</summary>
    internal readonly ReadOnlySpan<byte> Span => new(_bytes.Head, _bytes.Count);

    /// <summary>Adds a number.</summary>
    internal void Add(long value)
    {
        Span<byte> entry = stackalloc byte[9];
        BinaryPrimitives.WriteInt64LittleEndian(entry[1..], value);
        int bytes = 1;
        switch (value)
        {
            case >= 0 and < 0x80:
                entry[0] = (byte)value;
                break;
            case >= -0x1000 and < 0x1000:
                entry[0] = (byte)(0xC0 | ((value >> 8) & 0x1F));
                bytes = 2;
                break;
            case >= short.MinValue and <= short.MaxValue:
                entry[0] = 0xF1;
                bytes = 3;
                break;
            case >= int.MinValue and <= int.MaxValue:
                entry[0] = 0xF3;
                bytes = 5;
                break;
            default:
                entry[0] = 0xF4;
                bytes = 9;
                break;
        }

        Add(entry[..bytes], default);
    }

    /// <summary>Adds a text.</summary>
    internal void Add(ReadOnlySpan<byte> text)
    {
        Span<byte> head = stackalloc byte[5];
        int bytes = 1;
        if (text.Length < 0x40)
        {
            head[0] = (byte)(0x80 | text.Length);
        }
        else if (text.Length < 0x1000)
        {
            head[0] = (byte)(0xE0 | (text.Length >> 8));
            head[1] = (byte)text.Length;
            bytes = 2;
        }
        else
        {
            head[0] = 0xF0;
            BinaryPrimitives.WriteInt32LittleEndian(head[1..], text.Length);
            bytes = 5;
        }

        Add(head[..bytes], text);
    }

    /// <summary>Adds the entries of another one that is not closed.</summary>
    internal void Add(in ListPackWriter other)
    {
        _bytes.Append(new ReadOnlySpan<byte>(other._bytes.Head + HeaderBytes, other._bytes.Count - HeaderBytes));
        _count += other._count;
    }

    /// <summary>Completes it.</summary>
    internal void Close()
    {
        _bytes.Append([EndMark]);
        var header = new Span<byte>(_bytes.Head, HeaderBytes);
        BinaryPrimitives.WriteInt32LittleEndian(header, _bytes.Count);
        BinaryPrimitives.WriteUInt16LittleEndian(header[4..], (ushort)Math.Min(_count, UnknownCount));
    }

    /// <summary>Back to nothing.</summary>
    internal void Free()
    {
        _bytes.Free();
        _count = 0;
    }

    private void Add(ReadOnlySpan<byte> head, ReadOnlySpan<byte> text)
    {
        if (_bytes.Count == 0)
            _bytes.Append(stackalloc byte[HeaderBytes]);
        _bytes.Append(head);
        _bytes.Append(text);
        int bytes = checked(head.Length + text.Length), groups = ListPack.BackwardBytes(bytes);
        for (int group = 0; group < groups; group++)
            _bytes.Append([(byte)ListPack.BackwardByte(bytes, group, groups)]);
        _count++;
    }
}
