using System.Buffers.Binary;
using System.Security.Cryptography;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Snapshots;
using Garnet.Common.Linux;

namespace Garnet.Aof;

/// <summary>
/// The secret of a data directory, the file <c>directory.key</c>: with it a server tells the snapshots that it has written itself, whose
/// values need no judging, from all others. Format: website/docs/format/manifest.md.
/// log.K1: the key is made of the file's bytes and of what only this very file has (<see cref="IDisk.MarkOf"/>), so that whoever gets or makes
/// a copy of the directory has another key, and what was sealed with this one is judged there.
/// log.K2: a server seals with a key only if it has made it itself, or has seen it open a seal: the bytes may have come with a foreign archive.
/// log.K3: nothing is refused for want of a key. Without one, values are judged, and what is written has no seal.
/// </summary>
public sealed class DirectoryKey
{
    /// <summary>The file's name.</summary>
    public const string FileName = "directory.key";
    /// <summary>The name under which the next one is written.</summary>
    public const string NextFileName = "directory.key.tmp";

    private const uint Magic = 0x4B_44_4E_47; // "GNDK"
    private const byte CurrentVersion = 1;
    private const int VersionOffset = 4, SecretOffset = 8, SecretBytes = 32, CrcOffset = SecretOffset + SecretBytes;
    private const int FileBytes = CrcOffset + sizeof(uint);

    private readonly byte[] _key;

    private DirectoryKey(byte[] key) => _key = key;

    /// <summary>True once this process knows that the key is its directory's (log.K2).</summary>
    public bool IsProven { get; private set; }

    /// <summary>The key of a directory; null if there is none, or it is damaged, or others may read it.</summary>
    public static DirectoryKey? TryRead(IDisk disk)
    {
        ArgumentNullException.ThrowIfNull(disk);
        if (!AesGcm.IsSupported)
            return null;
        try
        {
            byte[] mark = disk.MarkOf(FileName);
            if (mark.Length == 0)
                return null;
            byte[] bytes = WholeFile.Read(disk, FileName, FileBytes + 1);
            return IsWhole(bytes) ? new DirectoryKey(HKDF.Extract(HashAlgorithmName.SHA256, bytes[SecretOffset..CrcOffset], mark)) : null;
        }
        catch (DiskException)
        {
            return null; // log.K3
        }
    }

    /// <summary>Makes a new key, durable when this returns; null if there can be none.</summary>
    public static DirectoryKey? TryMake(IDisk disk)
    {
        ArgumentNullException.ThrowIfNull(disk);
        if (!AesGcm.IsSupported)
            return null;
        try
        {
            WholeFile.Write(disk, NextFileName, Encode(Libc.RandomBytes(SecretBytes)));
            if (disk.MarkOf(NextFileName).Length == 0)
            {
                disk.Delete(NextFileName);
                return null;
            }
            disk.Rename(NextFileName, FileName);
            disk.SyncDirectory();
        }
        catch (DiskException)
        {
            return null; // log.K3
        }
        DirectoryKey? made = TryRead(disk); // its mark is another one since it was renamed
        made?.Prove();
        return made;
    }

    /// <summary>True if both seal alike.</summary>
    public bool Is(DirectoryKey? other) => other is not null && CryptographicOperations.FixedTimeEquals(_key, other._key);

    /// <summary>It has opened a seal, so it is ours.</summary>
    internal void Prove() => IsProven = true;

    /// <summary>The seal of the file that has the salt.</summary>
    internal SnapshotSeal Seal(ReadOnlySpan<byte> salt)
    {
        Span<byte> key = stackalloc byte[SnapshotSeal.KeyBytes];
        HKDF.Expand(HashAlgorithmName.SHA256, _key, key, [.. SnapshotSeal.Label, .. salt]);
        return new SnapshotSeal(key, salt);
    }

    private static byte[] Encode(ReadOnlySpan<byte> secret)
    {
        byte[] bytes = new byte[FileBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        bytes[VersionOffset] = CurrentVersion;
        secret.CopyTo(bytes.AsSpan(SecretOffset));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(CrcOffset), Crc32C.Of(bytes.AsSpan(0, CrcOffset)));
        return bytes;
    }

    // Also a key of another version is none: there is no harm in judging.
    private static bool IsWhole(byte[] bytes) =>
        bytes.Length == FileBytes && bytes.AsSpan().SequenceEqual(Encode(bytes.AsSpan(SecretOffset, SecretBytes)));
}
