namespace Garnet.Server.Backups;

/// <summary>
/// The sizes of a backup file, for those who write it and those who read it. It is a header, the bytes of an RDB file in chunks, and a trailer; encrypted,
/// each chunk has a tag behind it. A file without its trailer is none.
/// </summary>
internal static class BackupFormat
{
    internal const int Version = 1;

    /// <summary>Bytes of the RDB file in a chunk; the last one has the rest.</summary>
    internal const int ChunkBytes = 1 << 20;

    /// <summary>Bytes of AES-GCM's tag.</summary>
    internal const int TagBytes = 16;

    /// <summary>Bytes of the key that the operator has, and of those that are made of it.</summary>
    internal const int KeyBytes = 32;

    /// <summary>The most bytes that the RDB file in it may have: beyond what any file system holds, and far from where sums overflow.</summary>
    internal const long PayloadBytesMax = 1L << 60;

    /// <summary>How many chunks so many bytes are in.</summary>
    internal static long ChunksOf(long payloadBytes) => (payloadBytes + ChunkBytes - 1) / ChunkBytes;

    /// <summary>Bytes of the file with so many bytes in it.</summary>
    internal static long FileBytes(long payloadBytes, bool isEncrypted) =>
        BackupHeader.Bytes + payloadBytes + (isEncrypted ? ChunksOf(payloadBytes) * TagBytes : 0) + BackupTrailer.Bytes;
}
