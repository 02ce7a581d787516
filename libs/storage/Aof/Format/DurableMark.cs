using System.Buffers.Binary;

namespace Garnet.Aof.Format;

/// <summary>
/// What a batch header says of the batches before it, in bytes 48–55: one more than the number of the last batch that was
/// durable in every sublog when the header was made; 0 = not said. It tells an interrupted write from damage: writes that
/// were never synced may survive a power cut in any order, so that a whole batch behind a broken one proves nothing, unless
/// its mark says that the broken one had been safe.
/// </summary>
internal static class DurableMark
{
    private const int MarkOffset = 48, CrcOffset = 60;

    /// <summary>Sets the mark in a header that <see cref="BatchHeader.Write"/> made; returns the header's new checksum.</summary>
    public static uint Write(Span<byte> header, ulong durableBatch)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(header[MarkOffset..], durableBatch + 1);
        uint crc = Crc32C.Of(header[..CrcOffset]);
        BinaryPrimitives.WriteUInt32LittleEndian(header[CrcOffset..], crc);
        return crc;
    }

    /// <summary>The raw mark of a whole header.</summary>
    public static ulong Read(ReadOnlySpan<byte> header) => BinaryPrimitives.ReadUInt64LittleEndian(header[MarkOffset..]);
}
