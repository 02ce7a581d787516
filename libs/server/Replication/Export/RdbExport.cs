using System.Net.Sockets;
using System.Text;
using Garnet.Common.Linux;
using Garnet.Common.Resp;
using Garnet.Common.Time;
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
internal sealed class RdbExport(
    ServerSettings settings, IClock clock, ServerLog lines, StoreCuts cuts, LinkSocket socket, ExportRequest request)
{
    private const int TurnMs = 20, AliveMs = 1000, MarkBytes = 40;

    private readonly Signal _signal = new();
    private volatile bool _stopped;

    private RdbFileOut File => field ??= new RdbFileOut(new LinkSink(socket), request.Terms.OnlyFunctions);

    /// <summary>Ends it; returns at once.</summary>
    /// <summary>True if who asked for it is nobody any more.</summary>
    internal bool HasLostUser => socket.HasLostUser;

    internal void Stop()
    {
        _stopped = true;
        _signal.Set();
        socket.Dispose();
    }

    /// <summary>Sends everything and waits until the reader is gone.</summary>
    internal void Run()
    {
        long began = clock.UnixMs;
        try
        {
            if (TrySend() is { } reason)
            {
                lines.ExportFailed(request.Address, reason);
            }
            else
            {
                lines.Exported(request.Address, File.Keys, File.Bytes, clock.UnixMs - began);
                lines.ExportLost(File.LostTimes, File.LostMemberTimes);
                Rest();
            }
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            bool isTimeout = e is SocketException { SocketErrorCode: SocketError.TimedOut or SocketError.WouldBlock };
            lines.ExportFailed(request.Address, isTimeout ? "the reader took nothing for repl-timeout" : e.Message);
        }

        File.Free();
        socket.Dispose();
    }

    // Why it is not whole, null if it is.
    private string? TrySend()
    {
        long limit = settings.Network.OutputBufferLimits.Replica.HardBytes, most = limit > 0 ? limit : long.MaxValue;
        using StoreSnapshot? snapshot = Cut(new SnapshotOptions { BufferBytes = most, BufferBytesMax = most, PartitionsAtOnce = 1 });
        if (snapshot is null)
            return "the server stops";
        using var keys = new SnapshotKeys(snapshot, limit, File);
        byte[] mark = Encoding.ASCII.GetBytes(Convert.ToHexStringLower(Libc.RandomBytes(MarkBytes / 2)));
        if (request.Place is { } place)
            socket.Send(Encoding.ASCII.GetBytes($"+FULLRESYNC {place()}\r\n"));
        socket.Send([.. "$EOF:"u8, .. mark, .. "\r\n"u8]);
        File.Begin(settings.Replication.ExportVersion, settings.Inspect.RedisVersion, clock.UnixMs);
        while (snapshot.Step(keys))
        {
            if (_stopped)
                return "the server stops, or gets other data";
            Thread.Yield();
        }

        if (snapshot.State != SnapshotState.Whole)
            return "the reader was too slow: what writers changed meanwhile exceeded client-output-buffer-limit for replicas";
        File.End();
        socket.Send(mark); // rdb.E1
        return null;
    }

    // One snapshot at a time; an empty line now and then says that the wait goes on.
    private StoreSnapshot? Cut(SnapshotOptions options)
    {
        StoreSnapshot? snapshot;
        for (int waitedMs = 0; (snapshot = cuts.TryCut(options)) is null; waitedMs += TurnMs)
        {
            if (waitedMs % AliveMs == 0)
                socket.Send("\n"u8);
            _signal.Wait(TurnMs);
            if (_stopped)
                return null;
        }

        return snapshot;
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

/// <summary>Who wants the data, and how; with the place at which they are, if that is to be told.</summary>
internal sealed record ExportRequest(SyncTerms Terms, string Address, Func<string>? Place);
