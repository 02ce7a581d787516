using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Linux;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Rdb;
using Tsavorite;

namespace Garnet.Server.Replication.Export;

/// <summary>
/// Sends all data as they are at one moment, as an RDB file, on a thread of its own.
/// rdb.E1: a file without the mark behind it is not whole; whatever goes wrong, the mark is not sent.
/// rdb.E2: memory is bounded: what writers save for the snapshot, and collections that are gathered, by the hard limit that
/// client-output-buffer-limit sets for replicas, each; a reader that takes nothing by repl-timeout.
/// </summary>
internal sealed unsafe class RdbExport(ServerCore server, ReplicationNode node, LinkSocket socket, ExportRequest request) : ISnapshotKeySink, IRdbSink
{
    private const int TurnMs = 20, AliveMs = 1000, MarkBytes = 40;

    private readonly Signal _signal = new();
    private volatile bool _stopped;
    private RdbEncoder _encoder;
    private ulong _crc;
    private int _database = -1;
    private long _bytes, _keys, _lostTimes, _lostMemberTimes;

    /// <summary>Ends it; returns at once.</summary>
    internal void Stop()
    {
        _stopped = true;
        _signal.Set();
        socket.Dispose();
    }

    /// <summary>Sends everything and waits until the reader is gone.</summary>
    internal void Run()
    {
        long began = server.Clock.UnixMs;
        try
        {
            if (TrySend() is { } reason)
            {
                server.Log.ExportFailed(request.Address, reason);
            }
            else
            {
                server.Log.Exported(request.Address, _keys, _bytes, server.Clock.UnixMs - began);
                server.Log.ExportLost(_lostTimes, _lostMemberTimes);
                Rest();
            }
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            server.Log.ExportFailed(request.Address, e is SocketException { SocketErrorCode: SocketError.TimedOut or SocketError.WouldBlock } ? "the reader took nothing for repl-timeout" : e.Message);
        }

        _encoder.To.Bytes.Free();
        socket.Dispose();
    }

    /// <inheritdoc/>
    public void Take(StoreSession session, in KeyRef key, int database, long expireAtMs)
    {
        if (database == NamespaceTable.Reserved)
            TakeFunctions(session, key);
        if (database == NamespaceTable.Reserved || request.Terms.OnlyFunctions)
            return;
        if (database != _database)
        {
            _encoder.To.Byte((byte)RdbMark.Database);
            _encoder.To.Length((ulong)(_database = database));
        }

        _encoder.ExpireAtMs = expireAtMs;
        _encoder.Key = new Arg { Bytes = key.Bytes, Length = key.Length };
        session.Examine(in key, ref _encoder, quiet: true);
        _encoder.To.Relieve();
        _lostTimes += _encoder.LostTimes ? 1 : 0;
        _lostMemberTimes += _encoder.LostMemberTimes ? 1 : 0;
        _keys += _encoder.IsEmpty ? 0 : 1;
        _encoder.LostTimes = _encoder.LostMemberTimes = _encoder.IsEmpty = false;
    }

    /// <inheritdoc/>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
            _crc = Crc64.Append(_crc, start, bytes.Length);
        socket.Send(bytes);
        _bytes += bytes.Length;
    }

    // Why it is not whole, null if it is.
    private string? TrySend()
    {
        long limit = server.Settings.Network.OutputBufferLimits.Replica.HardBytes, most = limit > 0 ? limit : long.MaxValue;
        using StoreSnapshot? snapshot = Cut(new SnapshotOptions { BufferBytes = most, BufferBytesMax = most, PartitionsAtOnce = 1 });
        if (snapshot is null)
            return "the server stops";
        using var keys = new SnapshotKeys(snapshot, limit, this);
        byte[] mark = Encoding.ASCII.GetBytes(Convert.ToHexStringLower(Libc.RandomBytes(MarkBytes / 2)));
        if (request.TellsPlace)
            socket.Send(Encoding.ASCII.GetBytes($"+FULLRESYNC {node.RunId} {node.Position.Offset}\r\n"));
        socket.Send([.. "$EOF:"u8, .. mark, .. "\r\n"u8]);
        Begin();
        while (snapshot.Step(keys))
        {
            if (_stopped)
                return "the server stops, or gets other data";
            Thread.Yield();
        }

        if (snapshot.State != SnapshotState.Whole)
            return "the reader was too slow: what writers changed meanwhile exceeded client-output-buffer-limit for replicas";
        _encoder.To.Byte((byte)RdbMark.End);
        _encoder.To.Flush();
        byte[] end = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(end, _crc);
        socket.Send([.. end, .. mark]); // rdb.E1
        return null;
    }

    // One snapshot at a time; an empty line now and then says that the wait goes on.
    private StoreSnapshot? Cut(SnapshotOptions options)
    {
        StoreSnapshot? snapshot;
        for (int waitedMs = 0; (snapshot = node.TryCut(options)) is null; waitedMs += TurnMs)
        {
            if (waitedMs % AliveMs == 0)
                socket.Send("\n"u8);
            _signal.Wait(TurnMs);
            if (_stopped)
                return null;
        }

        return snapshot;
    }

    private void Begin()
    {
        int version = server.Settings.Replication.ExportVersion;
        _encoder = new RdbEncoder { ReaderVersion = version, NowMs = server.Clock.UnixMs, To = new RdbWriter { Sink = this } };
        _encoder.To.Bytes.Append(Encoding.ASCII.GetBytes($"REDIS{version:0000}"));
        Tell("redis-ver", server.Settings.Inspect.RedisVersion);
        Tell("redis-bits", "64");
        Tell("ctime", $"{server.Clock.UnixMs / 1000}");
        Tell("aof-base", "0");
    }

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
        }
    }

    // A reader that has all goes; until then it is left alone.
    private void Rest()
    {
        Span<byte> said = stackalloc byte[256];
        while (socket.Receive(said) > 0)
        {
            // acknowledgements of what does not come
        }
    }
}

/// <summary>Who wants the data, and how.</summary>
internal sealed record ExportRequest(SyncTerms Terms, string Address, bool TellsPlace);
