using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Garnet.Server.Backups;

/// <summary>
/// Encrypts the chunks of one backup, or decrypts them: AES-256-GCM under a key that HKDF makes of the operator's and the file's salt, so that no two files
/// have one in common; the nonce is the chunk's number. Tied to each chunk are the header, the number and whether it is the last: one that was moved, left
/// out or added does not pass, nor does one of another file. The facts of the trailer are tied to the file as a chunk without bytes behind the last.
/// </summary>
internal sealed class ChunkCipher : IDisposable
{
    private const int NonceBytes = 12, NumberAt = 4, PlaceBytes = sizeof(long) + 1;
    private const byte Within = 0, Last = 1, Trailer = 2;

    private readonly AesGcm _cipher;
    private readonly byte[] _nonce = new byte[NonceBytes];
    private readonly byte[] _tied = new byte[BackupHeader.Bytes + PlaceBytes + BackupTrailer.FactsBytes];

    /// <param name="key">The operator's key.</param>
    /// <param name="header">The header of the file as it is written.</param>
    /// <param name="salt">The file's salt.</param>
    internal ChunkCipher(byte[] key, ReadOnlySpan<byte> header, byte[] salt)
    {
        header.CopyTo(_tied);
        byte[] own = HKDF.DeriveKey(HashAlgorithmName.SHA256, key, BackupFormat.KeyBytes, salt, "garnet backup 1"u8.ToArray());
        _cipher = new AesGcm(own, BackupFormat.TagBytes);
        CryptographicOperations.ZeroMemory(own);
    }

    /// <summary>Encrypts a chunk; its tag goes to <paramref name="tag"/>.</summary>
    internal void Encrypt(long number, bool isLast, ReadOnlySpan<byte> chunk, Span<byte> to, Span<byte> tag) =>
        _cipher.Encrypt(_nonce, chunk, to, tag, Tie(number, isLast ? Last : Within, []));

    /// <summary>Decrypts a chunk; false if it is not what was encrypted there with this key.</summary>
    internal bool TryDecrypt(long number, bool isLast, ReadOnlySpan<byte> chunk, ReadOnlySpan<byte> tag, Span<byte> to) =>
        Passes(chunk, tag, to, Tie(number, isLast ? Last : Within, []));

    /// <summary>The tag of the trailer's facts, of a file of so many chunks.</summary>
    internal byte[] Seal(long chunks, ReadOnlySpan<byte> facts)
    {
        byte[] tag = new byte[BackupFormat.TagBytes];
        _cipher.Encrypt(_nonce, [], [], tag, Tie(chunks, Trailer, facts));
        return tag;
    }

    /// <summary>True if the tag is of those facts.</summary>
    internal bool IsSealed(long chunks, ReadOnlySpan<byte> facts, ReadOnlySpan<byte> tag) =>
        Passes([], tag, [], Tie(chunks, Trailer, facts));

    /// <inheritdoc/>
    public void Dispose() => _cipher.Dispose();

    // The nonce as well.
    private ReadOnlySpan<byte> Tie(long number, byte place, ReadOnlySpan<byte> facts)
    {
        BinaryPrimitives.WriteInt64LittleEndian(_nonce.AsSpan(NumberAt), number);
        Span<byte> behind = _tied.AsSpan(BackupHeader.Bytes);
        BinaryPrimitives.WriteInt64LittleEndian(behind, number);
        behind[sizeof(long)] = place;
        facts.CopyTo(behind[PlaceBytes..]);
        return _tied.AsSpan(0, BackupHeader.Bytes + PlaceBytes + facts.Length);
    }

    private bool Passes(ReadOnlySpan<byte> chunk, ReadOnlySpan<byte> tag, Span<byte> to, ReadOnlySpan<byte> tied)
    {
        try
        {
            _cipher.Decrypt(_nonce, chunk, tag, to, tied);
            return true;
        }
        catch (AuthenticationTagMismatchException)
        {
            return false;
        }
    }
}
