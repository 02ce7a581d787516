using System.Buffers.Binary;
using Garnet.Common.Bytes;

namespace Garnet.Rdb;

/// <summary>Writes the parts RDB is made of. Strings stay as they are: packing is the reader's choice everywhere.</summary>
public unsafe struct RdbWriter
{
    private const int ShortMax = 1 << 6, MiddleMax = 1 << 14, RelieveBytes = 64 << 10;

    /// <summary>Where it goes when some has gathered; null to gather all.</summary>
    public IRdbSink? Sink;

    /// <summary>What has been written.</summary>
    public ByteQueue Bytes;

    public void Byte(byte value) => Bytes.Append(&value, 1);

    public void Length(ulong length)
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

    public void String(ReadOnlySpan<byte> text)
    {
        Length((ulong)text.Length);
        Bytes.Append(text);
        Relieve();
    }

    /// <summary>Hands over what has gathered if it is much.</summary>
    public void Relieve()
    {
        if (Sink is not null && Bytes.Count >= RelieveBytes)
            Flush();
    }

    /// <summary>Hands over what has gathered.</summary>
    public void Flush()
    {
        Sink!.Take(new ReadOnlySpan<byte>(Bytes.Head, Bytes.Count));
        Bytes.Drop(Bytes.Count);
    }

    public void Int64(long value)
    {
        Span<byte> to = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(to, value);
        Bytes.Append(to);
    }

    public void UInt16(int value)
    {
        Span<byte> to = stackalloc byte[2];
        BinaryPrimitives.WriteUInt16LittleEndian(to, (ushort)value);
        Bytes.Append(to);
    }

    public void Double(double value) => Int64(BitConverter.DoubleToInt64Bits(value));
}
