using System.Buffers.Binary;

namespace Garnet.Rdb;

/// <summary>
/// What DUMP answers and RESTORE takes: type and value as in an RDB file, then two bytes of version and eight of the CRC-64 over all
/// before it.
/// </summary>
public static unsafe class RdbPayload
{
    /// <summary>Newest version that is understood.</summary>
    public const int VersionMax = 12;

    private const int FooterBytes = 10, CrcBytes = 8;

    /// <summary>Adds version and checksum.</summary>
    public static void Close(ref RdbWriter writer, int version)
    {
        writer.UInt16(version);
        writer.Int64((long)Crc64.Append(0, writer.Bytes.Head, writer.Bytes.Count));
    }

    /// <summary>True if version and checksum are right; then where type and value are.</summary>
    public static bool TryOpen(ReadOnlySpan<byte> payload, out int valueBytes, int valueBytesMin = 1)
    {
        valueBytes = payload.Length - FooterBytes;
        if (valueBytes < valueBytesMin || BinaryPrimitives.ReadUInt16LittleEndian(payload[valueBytes..]) > VersionMax)
            return false;
        fixed (byte* start = payload)
        {
            ulong crc = BinaryPrimitives.ReadUInt64LittleEndian(payload[^CrcBytes..]);
            return crc == Crc64.Append(0, start, payload.Length - CrcBytes); // unlike in a file, 0 is no way to say that there is none
        }
    }
}
