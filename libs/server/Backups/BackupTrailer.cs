using System.Buffers.Binary;

namespace Garnet.Server.Backups;

/// <summary>
/// The last bytes of a backup: what is known at its end only, the tag that ties this to the chunks if they are encrypted, and a checksum (SHA-256) over
/// everything before it.
/// </summary>
internal sealed record BackupTrailer
{
    internal const int Bytes = FactsBytes + BackupFormat.TagBytes + ChecksumBytes, FactsBytes = 32, ChecksumBytes = 32;

    /// <summary>What of it the checksum is over.</summary>
    internal const int CheckedBytes = Bytes - ChecksumBytes;

    private const int PayloadAt = 8, KeysAt = 16, FunctionsAt = 24, DatabasesAt = 28;

    private static ReadOnlySpan<byte> Magic => "GARNETBE"u8;

    /// <summary>Bytes of the RDB file in it.</summary>
    internal required long PayloadBytes { get; init; }

    /// <summary>Keys in it, libraries of functions, and how many databases it takes.</summary>
    internal required long Keys { get; init; }
    internal required int Functions { get; init; }
    internal required int Databases { get; init; }

    /// <summary>The bytes in front of tag and checksum.</summary>
    internal byte[] WriteFacts()
    {
        byte[] to = new byte[FactsBytes];
        Magic.CopyTo(to);
        BinaryPrimitives.WriteInt64LittleEndian(to.AsSpan(PayloadAt), PayloadBytes);
        BinaryPrimitives.WriteInt64LittleEndian(to.AsSpan(KeysAt), Keys);
        BinaryPrimitives.WriteInt32LittleEndian(to.AsSpan(FunctionsAt), Functions);
        BinaryPrimitives.WriteInt32LittleEndian(to.AsSpan(DatabasesAt), Databases);
        return to;
    }

    /// <summary>What the bytes say; null if they are none.</summary>
    internal static BackupTrailer? Read(ReadOnlySpan<byte> from)
    {
        if (from.Length < FactsBytes || !from.StartsWith(Magic))
            return null;
        var trailer = new BackupTrailer
        {
            PayloadBytes = BinaryPrimitives.ReadInt64LittleEndian(from[PayloadAt..]),
            Keys = BinaryPrimitives.ReadInt64LittleEndian(from[KeysAt..]),
            Functions = BinaryPrimitives.ReadInt32LittleEndian(from[FunctionsAt..]),
            Databases = BinaryPrimitives.ReadInt32LittleEndian(from[DatabasesAt..]),
        };
        bool isSound = trailer is { PayloadBytes: > 0 and <= BackupFormat.PayloadBytesMax, Keys: >= 0, Functions: >= 0, Databases: >= 0 };
        return isSound ? trailer : null;
    }
}
