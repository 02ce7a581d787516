using System.Buffers.Binary;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Rdb;
using Garnet.Replication;
using Tsavorite;

namespace Garnet.Server.Replication.Export;

/// <summary>An RDB file as it goes out: its head, each key with its value, functions, its end with the checksum over everything.</summary>
internal sealed unsafe class RdbFileOut(IRdbSink to, bool onlyFunctions) : ISnapshotKeySink, IRdbSink
{
    private RdbEncoder _encoder;
    private ulong _crc;
    private int _database = -1;

    /// <summary>Bytes sent, and keys in them.</summary>
    internal long Bytes { get; private set; }
    internal long Keys { get; private set; }

    /// <summary>Libraries of functions, and databases: one more than the highest number.</summary>
    internal int Functions { get; private set; }
    internal int Databases { get; private set; }

    /// <summary>True if what RDB has no form for is to be in it all the same.</summary>
    internal bool TellsAll { get; init; }

    /// <summary>Keys whose expiry, or whose members' expiry, the version cannot hold.</summary>
    internal long LostTimes { get; private set; }
    internal long LostMemberTimes { get; private set; }

    /// <summary>The head: the version of the file, what this server calls itself, and when it is.</summary>
    internal void Begin(int version, string redisVersion, long nowMs)
    {
        _encoder = new RdbEncoder { ReaderVersion = version, NowMs = nowMs, TellsAll = TellsAll, To = new RdbWriter { Sink = this } };
        _encoder.To.Bytes.Append(Encoding.ASCII.GetBytes($"REDIS{version:0000}"));
        Tell("redis-ver", redisVersion);
        Tell("redis-bits", "64");
        Tell("ctime", $"{nowMs / 1000}");
        Tell("aof-base", "0");
    }

    /// <inheritdoc/>
    public void Take(StoreSession session, in KeyRef key, int database, long expireAtMs)
    {
        if (database == NamespaceTable.Reserved)
            TakeFunctions(session, key);
        if (database == NamespaceTable.Reserved || onlyFunctions)
            return;
        if (database != _database)
        {
            _encoder.To.Byte((byte)RdbMark.Database);
            _encoder.To.Length((ulong)(_database = database));
            Databases = Math.Max(Databases, database + 1);
        }

        _encoder.ExpireAtMs = expireAtMs;
        _encoder.Key = new Arg { Bytes = key.Bytes, Length = key.Length };
        session.Examine(in key, ref _encoder, quiet: true);
        _encoder.To.Relieve();
        LostTimes += _encoder.LostTimes ? 1 : 0;
        LostMemberTimes += _encoder.LostMemberTimes ? 1 : 0;
        Keys += _encoder.IsEmpty ? 0 : 1;
        _encoder.LostTimes = _encoder.LostMemberTimes = _encoder.IsEmpty = false;
    }

    /// <inheritdoc/>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
            _crc = Crc64.Append(_crc, start, bytes.Length);
        to.Take(bytes);
        Bytes += bytes.Length;
    }

    /// <summary>The end.</summary>
    internal void End()
    {
        _encoder.To.Byte((byte)RdbMark.End);
        _encoder.To.Flush();
        byte[] end = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(end, _crc);
        to.Take(end);
    }

    /// <summary>Gives its memory back.</summary>
    internal void Free() => _encoder.To.Bytes.Free();

    private void Tell(string name, string value)
    {
        _encoder.To.Byte((byte)RdbMark.Auxiliary);
        _encoder.To.String(Encoding.ASCII.GetBytes(name));
        _encoder.To.String(Encoding.ASCII.GetBytes(value));
    }

    private void TakeFunctions(StoreSession session, in KeyRef key)
    {
        foreach (byte[] source in FunctionRecord.Sources(session, key))
        {
            _encoder.To.Byte((byte)RdbMark.Function);
            _encoder.To.String(source);
            Functions++;
        }
    }
}
