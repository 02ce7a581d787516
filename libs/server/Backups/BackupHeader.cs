using System.Buffers.Binary;
using System.Text;

namespace Garnet.Server.Backups;

/// <summary>The first bytes of a backup. Places are fixed, numbers little-endian, what has no meaning is zero.</summary>
internal sealed record BackupHeader
{
    internal const int Bytes = 128, SaltBytes = 32;

    private const int VersionAt = 8, FlagsAt = 10, BytesAt = 12, CreatedAt = 16, TermAt = 24, ChunkAt = 28;
    private const int BatchAt = 32, SaltAt = 40, ServerAt = 72, ServerBytes = 32, ServerEnd = ServerAt + ServerBytes, EncryptedFlag = 1;
    private const long CreatedMaxMs = 253_402_300_799_999; // the last moment of the year 9999

    private static ReadOnlySpan<byte> Magic => "GARNETBK"u8;

    /// <summary>When its moment was, Unix milliseconds.</summary>
    internal required long CreatedMs { get; init; }

    /// <summary>The term and the last batch of the log before it; 0 without a log.</summary>
    internal uint Term { get; init; }
    internal ulong Batch { get; init; }

    /// <summary>The version of the server that wrote it.</summary>
    internal required string ServerVersion { get; init; }

    /// <summary>What makes the key of this file of the operator's; empty if it is not encrypted.</summary>
    internal byte[] Salt { get; init; } = [];

    internal bool IsEncrypted => Salt.Length > 0;

    /// <summary>The bytes of it.</summary>
    internal byte[] Write()
    {
        byte[] to = new byte[Bytes];
        Magic.CopyTo(to);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(VersionAt), BackupFormat.Version);
        BinaryPrimitives.WriteUInt16LittleEndian(to.AsSpan(FlagsAt), (ushort)(IsEncrypted ? EncryptedFlag : 0));
        BinaryPrimitives.WriteInt32LittleEndian(to.AsSpan(BytesAt), Bytes);
        BinaryPrimitives.WriteInt64LittleEndian(to.AsSpan(CreatedAt), CreatedMs);
        BinaryPrimitives.WriteUInt32LittleEndian(to.AsSpan(TermAt), Term);
        BinaryPrimitives.WriteInt32LittleEndian(to.AsSpan(ChunkAt), BackupFormat.ChunkBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(to.AsSpan(BatchAt), Batch);
        Salt.CopyTo(to.AsSpan(SaltAt));
        byte[] version = Encoding.ASCII.GetBytes(ServerVersion);
        version.AsSpan(0, Math.Min(version.Length, ServerBytes)).CopyTo(to.AsSpan(ServerAt));
        return to;
    }

    /// <summary>What the bytes say; null if they are of no backup, or of one that is not understood, with the reason.</summary>
    internal static BackupHeader? Read(ReadOnlySpan<byte> from, out string why)
    {
        why = "it does not begin as a backup does";
        if (from.Length < Bytes || !from.StartsWith(Magic))
            return null;
        int version = BinaryPrimitives.ReadUInt16LittleEndian(from[VersionAt..]);
        why = $"it has version {version} of the format, and version {BackupFormat.Version} is understood";
        if (version != BackupFormat.Version)
            return null;
        why = "its header is damaged";
        int flags = BinaryPrimitives.ReadUInt16LittleEndian(from[FlagsAt..]);
        long created = BinaryPrimitives.ReadInt64LittleEndian(from[CreatedAt..]);
        ReadOnlySpan<byte> server = from[ServerAt..ServerEnd].TrimEnd((byte)0), salt = from.Slice(SaltAt, SaltBytes);
        bool isSound = (flags & ~EncryptedFlag) == 0
            && BinaryPrimitives.ReadInt32LittleEndian(from[BytesAt..]) == Bytes
            && BinaryPrimitives.ReadInt32LittleEndian(from[ChunkAt..]) == BackupFormat.ChunkBytes
            && created is >= 0 and <= CreatedMaxMs
            && !server.ContainsAnyExceptInRange((byte)' ', (byte)'~')
            && !from[ServerEnd..Bytes].ContainsAnyExcept((byte)0)
            && salt.ContainsAnyExcept((byte)0) == (flags == EncryptedFlag);
        return !isSound ? null : new BackupHeader
        {
            CreatedMs = created,
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[TermAt..]),
            Batch = BinaryPrimitives.ReadUInt64LittleEndian(from[BatchAt..]),
            ServerVersion = Encoding.ASCII.GetString(server),
            Salt = flags == EncryptedFlag ? salt.ToArray() : [],
        };
    }
}
