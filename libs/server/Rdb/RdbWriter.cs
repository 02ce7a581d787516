using System.Buffers.Binary;
using Garnet.Common.Bytes;

namespace Garnet.Server.Rdb;

/// <summary>Takes what an <see cref="RdbWriter"/> has written, while a value is still being written.</summary>
internal interface IRdbSink
{
    /// <summary>Takes the bytes; they are the caller's again afterwards.</summary>
    void Take(ReadOnlySpan<byte> bytes);
}

/// <summary>Writes the parts RDB is made of. Strings stay as they are: packing is the reader's choice everywhere.</summary>
internal unsafe struct RdbWriter
{
    private const int ShortMax = 1 << 6, MiddleMax = 1 << 14, RelieveBytes = 64 << 10;

    /// <summary>Where it goes when some has gathered; null to gather all.</summary>
    internal IRdbSink? Sink;

    /// <summary>What has been written.</summary>
    internal ByteQueue Bytes;

    internal void Byte(byte value) => Bytes.Append(&value, 1);

    internal void Length(ulong length)
    {
        Span<byte> to = stackalloc byte[9];
        int size = 1;
        if (length < ShortMax)
        {
            to[0] = (byte)length;
        }
        else if (length < MiddleMax)
        {
            BinaryPrimitives.WriteUInt16BigEndian(to, (ushort)(length | 0x4000));
            size = 2;
        }
        else if (length <= uint.MaxValue)
        {
            to[0] = 0x80;
            BinaryPrimitives.WriteUInt32BigEndian(to[1..], (uint)length);
            size = 5;
        }
        else
        {
            to[0] = 0x81;
            BinaryPrimitives.WriteUInt64BigEndian(to[1..], length);
            size = 9;
        }

        Bytes.Append(to[..size]);
    }

    internal void String(ReadOnlySpan<byte> text)
    {
        Length((ulong)text.Length);
        Bytes.Append(text);
        Relieve();
    }

    /// <summary>Hands over what has gathered if it is much.</summary>
    internal void Relieve()
    {
        if (Sink is not null && Bytes.Count >= RelieveBytes)
            Flush();
    }

    /// <summary>Hands over what has gathered.</summary>
    internal void Flush()
    {
        Sink!.Take(new ReadOnlySpan<byte>(Bytes.Head, Bytes.Count));
        Bytes.Drop(Bytes.Count);
    }

    internal void Int64(long value)
    {
        Span<byte> to = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(to, value);
        Bytes.Append(to);
    }

    internal void UInt16(int value)
    {
        Span<byte> to = stackalloc byte[2];
        BinaryPrimitives.WriteUInt16LittleEndian(to, (ushort)value);
        Bytes.Append(to);
    }

    internal void Double(double value) => Int64(BitConverter.DoubleToInt64Bits(value));
}
