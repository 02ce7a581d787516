using System.Buffers.Binary;
using Garnet.Aof.Format;

namespace Garnet.Replication.Frames;

/// <summary>
/// The 16 bytes in front of a frame: magic, version, kind, two zeros, bytes of the body, checksum. The checksum covers the 12
/// bytes before it and the body, but for the two kinds whose bodies bring their own.
/// </summary>
public static class FrameFormat
{
    public const int HeaderBytes = 16;
    public const byte Version = 1;

    /// <summary>What a greeting asks for: which frames there are, and what is in them. Since 2 acknowledgements name a place.</summary>
    public const string Protocol = "2";

    private const uint Magic = 0x46_52_4E_47; // "GNRF"
    private const int CrcOffset = 12;

    public static void Write(Span<byte> to, FrameKind kind, ReadOnlySpan<byte> body, ReadOnlySpan<byte> more)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = Version;
        to[5] = (byte)kind;
        to[6] = to[7] = 0;
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], (uint)(body.Length + more.Length));
        uint crc = Crc32C.Of(to[..CrcOffset]);
        if (IsChecked(kind))
            crc = Crc32C.Of(more, Crc32C.Of(body, crc));
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], crc);
    }

    /// <summary>Null if a frame may begin so, else what is wrong. The checksum of a kind with checked bodies is looked at with the body.</summary>
    public static string? Read(ReadOnlySpan<byte> from, out FrameKind kind, out uint bodyBytes)
    {
        kind = (FrameKind)from[5];
        bodyBytes = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]);
        if (BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            return "what came is no frame";
        if (from[4] != Version)
            return $"a frame of version {from[4]} came; this server knows version {Version}";
        if (from[6] != 0 || from[7] != 0)
            return "bytes of a frame that must be zero are not";
        return IsChecked(kind) || Holds(from, kind, []) ? null : "the checksum of a frame does not hold";
    }

    public static bool Holds(ReadOnlySpan<byte> header, FrameKind kind, ReadOnlySpan<byte> body)
    {
        uint crc = Crc32C.Of(header[..CrcOffset]);
        if (IsChecked(kind))
            crc = Crc32C.Of(body, crc);
        return crc == BinaryPrimitives.ReadUInt32LittleEndian(header[CrcOffset..]);
    }

    private static bool IsChecked(FrameKind kind) => kind is not (FrameKind.Batch or FrameKind.Snapshot);
}
