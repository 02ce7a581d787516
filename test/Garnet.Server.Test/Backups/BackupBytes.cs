using System.Buffers.Binary;
using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Garnet.Rdb;
using Garnet.Server.Backups;

namespace Garnet.Server.Test.Backups;

/// <summary>Backups as bytes: made of an RDB file by the product's writer, and judged by its reader.</summary>
internal static class BackupBytes
{
    internal static readonly byte[] Key = [.. Enumerable.Range(0, BackupFormat.KeyBytes).Select(static i => (byte)i)];

    /// <summary>An RDB file with so many strings, all as long.</summary>
    internal static unsafe byte[] Rdb(int keys, int valueBytes = 3)
    {
        List<byte> to = [.. "REDIS0012"u8, (byte)RdbMark.Database, 0];
        for (int i = 0; i < keys; i++)
        {
            to.AddRange([(byte)RdbType.String, 4, .. BitConverter.GetBytes(i), 0x80]);
            to.AddRange(BitConverter.GetBytes(BinaryPrimitives.ReverseEndianness(valueBytes)));
            to.AddRange(Enumerable.Repeat((byte)i, valueBytes));
        }

        to.Add((byte)RdbMark.End);
        byte[] bytes = [.. to];
        fixed (byte* start = bytes) return [.. bytes, .. BitConverter.GetBytes(Crc64.Append(0, start, bytes.Length))];
    }

    /// <summary>The backup of that RDB file.</summary>
    internal static byte[] Of(byte[] rdb, long keys, byte[]? key)
    {
        var file = new BytesFile();
        byte[] salt = key is null ? [] : [.. Enumerable.Repeat((byte)7, BackupHeader.SaltBytes)];
        var header = new BackupHeader { CreatedMs = 1_000, Term = 2, Batch = 3, ServerVersion = "0.1.0", Salt = salt };
        using var writer = new BackupWriter(file, header, key);
        writer.Take(rdb);
        writer.End(keys, functions: 0, databases: 1);
        return file.ToArray();
    }

    /// <summary>The RDB file in it, if all of it is sound.</summary>
    internal static byte[] Proven(byte[] backup, byte[]? key)
    {
        using BackupReader reader = Open(backup);
        reader.Prove(key, new JobProgress("proving", SystemClock.Instance));
        reader.Begin(key);
        byte[] rdb = new byte[reader.Trailer.PayloadBytes];
        int at = 0;
        for (int got; (got = reader.Read(rdb.AsSpan(at))) > 0;) at += got;
        return rdb[..at];
    }

    internal static BackupReader Open(byte[] backup) => new("b", backup.Length, (offset, to) =>
    {
        int part = (int)Math.Min(to.Length, backup.Length - offset);
        backup.AsSpan((int)offset, part).CopyTo(to);
        return part;
    });

    private sealed class BytesFile : IDiskFile
    {
        private byte[] _bytes = [];

        public long Length => _bytes.Length;

        public int Alignment => 1;

        public byte[] ToArray() => _bytes;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            SetLength(Math.Max(Length, offset + bytes.Length));
            bytes.CopyTo(_bytes.AsSpan((int)offset));
        }

        public int Read(long offset, Span<byte> to)
        {
            int part = (int)Math.Min(to.Length, Length - offset);
            _bytes.AsSpan((int)offset, part).CopyTo(to);
            return part;
        }

        public void Sync()
        {
        }

        public void SetLength(long bytes) => Array.Resize(ref _bytes, (int)bytes);

        public void Dispose()
        {
        }
    }
}
