using System.Buffers.Binary;
using System.Security.Cryptography;
using Garnet.Common.Linux;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// The tags of one sealed snapshot file: a code (GMAC) that nobody without the directory's key can make, over each part of the file and its
/// place. Each file has a key of its own, made of the directory's and a random salt, so that parts of two files cannot be mixed, and a place
/// is a number that is used once. Whose tags hold was written by this server, and its values were judged or made by it. One per thread.
/// </summary>
internal sealed class SnapshotSeal : IDisposable
{
    public const int SaltBytes = 32, KeyBytes = 32, TagBytes = 16;
    /// <summary>Places of what is no block; blocks are counted from 0.</summary>
    public const ulong HeaderPlace = ulong.MaxValue, FooterPlace = ulong.MaxValue - 1;

    private const int NonceBytes = 12, KindShift = 28;
    private readonly byte[] _salt;
    private readonly AesGcm _mac;

    public SnapshotSeal(ReadOnlySpan<byte> key, ReadOnlySpan<byte> salt)
    {
        _salt = salt.ToArray();
        _mac = new AesGcm(key, TagBytes);
    }

    /// <summary>What the keys are for. Another number here, and all that was sealed before is judged again: for when a version has written what a later one refuses.</summary>
    public static ReadOnlySpan<byte> Label => "garnet snapshot seal 1"u8;

    /// <summary>Stands in the file's header.</summary>
    public ReadOnlySpan<byte> Salt => _salt;

    /// <summary>A salt for a new file.</summary>
    public static byte[] NewSalt() => Libc.RandomBytes(SaltBytes);

    /// <summary>Makes the tag of a part. <paramref name="records"/>: 0 for what is no block. The kind stands above them: a block has less than 2^28.</summary>
    public void Tag(ulong place, uint records, ReadOnlySpan<byte> bytes, Span<byte> tag, SnapshotBlockKind kind = SnapshotBlockKind.Records)
    {
        records |= (uint)kind << KindShift;
        Span<byte> nonce = stackalloc byte[NonceBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(nonce, place);
        BinaryPrimitives.WriteUInt32LittleEndian(nonce[sizeof(ulong)..], records);
        _mac.Encrypt(nonce, [], [], tag, bytes);
    }

    /// <summary>True if the part is as this server wrote it, and in its place.</summary>
    public bool Holds(
        ulong place, uint records, ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> tag, SnapshotBlockKind kind = SnapshotBlockKind.Records)
    {
        Span<byte> right = stackalloc byte[TagBytes];
        Tag(place, records, bytes, right, kind);
        return CryptographicOperations.FixedTimeEquals(right, tag);
    }

    public void Dispose() => _mac.Dispose();
}
