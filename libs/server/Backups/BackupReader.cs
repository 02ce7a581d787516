using System.Security.Cryptography;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Rdb;

namespace Garnet.Server.Backups;

/// <summary>
/// Reads a backup, whose every byte may be an enemy's, also behind a right checksum: sizes are compared before anything is read by them, and no more than a
/// chunk of it is in memory.
/// </summary>
internal sealed class BackupReader : IRdbSource, IDisposable
{
    private readonly string _name;
    private readonly ReadAt _read;
    private readonly byte[] _head = new byte[BackupHeader.Bytes], _end = new byte[BackupTrailer.Bytes];
    private readonly byte[] _chunk = new byte[BackupFormat.ChunkBytes + BackupFormat.TagBytes];
    private readonly byte[] _plain;
    private readonly long _length;
    private ChunkCipher? _cipher;
    private long _chunks, _at = BackupHeader.Bytes;
    private int _begin, _filled;

    /// <summary>Looks at both ends of the file.</summary>
    /// <param name="name">What it is called in messages.</param>
    /// <param name="length">Its length, bytes.</param>
    /// <param name="read">Reads it.</param>
    /// <exception cref="GarnetException">It is no backup, or not as long as it says.</exception>
    internal BackupReader(string name, long length, ReadAt read)
    {
        (_name, _length, _read) = (name, length, read);
        if (length < BackupHeader.Bytes)
            throw Refusal("it is too short to be one");
        Fill(0, _head);
        Header = BackupHeader.Read(_head, out string why) ?? throw Refusal(why);
        if (length < BackupHeader.Bytes + (long)BackupTrailer.Bytes)
            throw Refusal("it is cut off");
        Fill(length - BackupTrailer.Bytes, _end);
        Trailer = BackupTrailer.Read(_end)
            ?? throw Refusal("it does not end as a backup does: it is cut off, or something stands behind it");
        if (BackupFormat.FileBytes(Trailer.PayloadBytes, Header.IsEncrypted) != length)
            throw Refusal("it is not as long as it says: something was cut out of it, or put into it");
        _plain = new byte[Header.IsEncrypted ? BackupFormat.ChunkBytes : 0];
    }

    internal BackupHeader Header { get; }

    internal BackupTrailer Trailer { get; }

    /// <summary>Proves that all of it is sound: the checksum, then every record, decoded as an import would. <paramref name="key"/>: the operator's, if there is one.</summary>
    /// <exception cref="GarnetException">It is not.</exception>
    internal void Prove(byte[]? key, JobProgress progress)
    {
        progress.Begin("checking a backup", _length);
        CheckSum(progress);
        Begin(key);
        progress.Begin("decoding a backup", Trailer.PayloadBytes);
        using var scan = new RdbScan(new Told(this, progress));
        if (scan.Run() is { } why)
            throw Refusal($"{why} (at byte {scan.Offset} of the RDB file in it)");
        if (scan.Keys != Trailer.Keys || scan.Functions != Trailer.Functions || scan.Databases != Trailer.Databases)
        {
            throw Refusal($"it has {scan.Keys} keys, {scan.Functions} libraries and {scan.Databases} databases, and says "
                + $"{Trailer.Keys}, {Trailer.Functions} and {Trailer.Databases}");
        }
    }

    /// <summary>The RDB file in it is read from its front again.</summary>
    /// <exception cref="GarnetException">The key is not the one.</exception>
    internal void Begin(byte[]? key)
    {
        _cipher?.Dispose();
        (_cipher, _chunks, _begin, _filled, _at) = (null, 0, 0, 0, BackupHeader.Bytes);
        if (!Header.IsEncrypted && key is not null) // whoever may write there could have put it in the place of one that is
        {
            throw Refusal("it is not encrypted, and a key was given",
                "Restore it without --key-file, if nobody else could have put it there");
        }

        if (!Header.IsEncrypted)
            return;
        if (key is null)
            throw Refusal("it is encrypted, and no key was given", "Name the file with its key: --key-file");
        _cipher = new ChunkCipher(key, _head, Header.Salt);
        ReadOnlySpan<byte> facts = _end.AsSpan(0, BackupTrailer.FactsBytes);
        ReadOnlySpan<byte> tag = _end.AsSpan(BackupTrailer.FactsBytes, BackupFormat.TagBytes);
        if (!_cipher.IsSealed(BackupFormat.ChunksOf(Trailer.PayloadBytes), facts, tag))
        {
            throw Refusal("the key is not the one that it was encrypted with, or somebody has changed it",
                "Name the key of that time: --key-file");
        }
    }

    /// <inheritdoc/>
    public int Read(Span<byte> to)
    {
        if (_begin == _filled && !TryChunk())
            return 0;
        int part = Math.Min(to.Length, _filled - _begin);
        (Header.IsEncrypted ? _plain : _chunk).AsSpan(_begin, part).CopyTo(to);
        _begin += part;
        return part;
    }

    /// <inheritdoc/>
    public void Dispose() => _cipher?.Dispose();

    private void CheckSum(JobProgress progress)
    {
        using var checksum = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        long end = _length - BackupTrailer.ChecksumBytes;
        for (long at = 0; at < end;)
        {
            Span<byte> part = _chunk.AsSpan(0, (int)Math.Min(_chunk.Length, end - at));
            Fill(at, part);
            checksum.AppendData(part);
            at += part.Length;
            progress.Add(part.Length);
        }

        if (!checksum.GetHashAndReset().AsSpan().SequenceEqual(_end.AsSpan(BackupTrailer.CheckedBytes)))
            throw Refusal("its checksum is wrong: it has changed since it was written");
    }

    private bool TryChunk()
    {
        long left = Trailer.PayloadBytes - (_chunks * BackupFormat.ChunkBytes);
        if (left <= 0)
            return false;
        int bytes = (int)Math.Min(left, BackupFormat.ChunkBytes), tagBytes = Header.IsEncrypted ? BackupFormat.TagBytes : 0;
        Span<byte> chunk = _chunk.AsSpan(0, bytes + tagBytes);
        Fill(_at, chunk);
        bool isLast = left <= BackupFormat.ChunkBytes;
        if (Header.IsEncrypted && !_cipher!.TryDecrypt(_chunks, isLast, chunk[..bytes], chunk[bytes..], _plain.AsSpan(0, bytes)))
            throw Refusal($"chunk {_chunks} is not what was encrypted there");
        (_begin, _filled) = (0, bytes);
        _at += chunk.Length;
        _chunks++;
        return true;
    }

    private void Fill(long offset, Span<byte> to)
    {
        while (!to.IsEmpty)
        {
            int got = _read(offset, to);
            if (got <= 0)
                throw Refusal("it became shorter while it was read");
            offset += got;
            to = to[got..];
        }
    }

    private GarnetException Refusal(string why, string next = "Take another one, or a sound copy of it; nothing has been taken from it") =>
        new(ExitKind.Data, $"the backup {_name} cannot be used", why, next);

    private sealed class Told(BackupReader from, JobProgress progress) : IRdbSource
    {
        public int Read(Span<byte> to)
        {
            int got = from.Read(to);
            progress.Add(got);
            return got;
        }
    }
}
