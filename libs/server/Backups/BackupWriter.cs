using System.Security.Cryptography;
using Garnet.Aof.Disk;
using Garnet.Rdb;

namespace Garnet.Server.Backups;

/// <summary>Writes a backup: what it is given is an RDB file from front to back.</summary>
internal sealed class BackupWriter : IRdbSink, IDisposable
{
    private const long SyncedAtOnce = 32 << 20; // what a sync at the end would have to write is on its way by then

    private readonly IDiskFile _file;
    private readonly ChunkCipher? _cipher;
    private readonly IncrementalHash _checksum = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly byte[] _chunk = new byte[BackupFormat.ChunkBytes];
    private readonly byte[] _encrypted;
    private int _filled;
    private long _chunks, _at, _begunSync;

    /// <summary>Begins the file, which is empty; <paramref name="key"/> is null if it is not to be encrypted.</summary>
    internal BackupWriter(IDiskFile file, BackupHeader header, byte[]? key)
    {
        _file = file;
        byte[] head = header.Write();
        _cipher = key is null ? null : new ChunkCipher(key, head, header.Salt);
        _encrypted = new byte[key is null ? 0 : BackupFormat.ChunkBytes + BackupFormat.TagBytes];
        Put(head);
    }

    /// <summary>Bytes of the RDB file so far.</summary>
    internal long PayloadBytes { get; private set; }

    /// <inheritdoc/>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        PayloadBytes += bytes.Length;
        while (!bytes.IsEmpty)
        {
            if (_filled == BackupFormat.ChunkBytes) // not before there is more: the last one is written as that
                PutChunk(isLast: false);
            int part = Math.Min(bytes.Length, BackupFormat.ChunkBytes - _filled);
            bytes[..part].CopyTo(_chunk.AsSpan(_filled));
            _filled += part;
            bytes = bytes[part..];
        }
    }

    /// <summary>The end: all of it is on the disk afterwards, under the name that the file has.</summary>
    internal void End(long keys, int functions, int databases)
    {
        PutChunk(isLast: true);
        var trailer = new BackupTrailer { PayloadBytes = PayloadBytes, Keys = keys, Functions = functions, Databases = databases };
        byte[] facts = trailer.WriteFacts();
        Put(facts);
        Put(_cipher?.Seal(_chunks, facts) ?? new byte[BackupFormat.TagBytes]);
        _file.Write(_at, _checksum.GetHashAndReset());
        _file.Sync();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _cipher?.Dispose();
        _checksum.Dispose();
    }

    private void PutChunk(bool isLast)
    {
        ReadOnlySpan<byte> chunk = _chunk.AsSpan(0, _filled);
        if (_cipher is null)
        {
            Put(chunk);
        }
        else
        {
            _cipher.Encrypt(_chunks, isLast, chunk, _encrypted.AsSpan(0, _filled), _encrypted.AsSpan(_filled, BackupFormat.TagBytes));
            Put(_encrypted.AsSpan(0, _filled + BackupFormat.TagBytes));
        }

        _chunks++;
        _filled = 0;
    }

    private void Put(ReadOnlySpan<byte> bytes)
    {
        _checksum.AppendData(bytes);
        _file.Write(_at, bytes);
        _at += bytes.Length;
        if (_at - _begunSync < SyncedAtOnce)
            return;
        _file.BeginSync(_begunSync, _at);
        _begunSync = _at;
    }
}
