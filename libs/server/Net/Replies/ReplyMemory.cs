using System.Text;
using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// Where a reactor's replies of a round stand: memory of its own, and blocks for what outgrows it (<see cref="ExtraReplies"/>).
/// net.R9  A reply that is longer than its client may get goes nowhere from there on, and is an error in the end: the command that writes it may be
///     in the middle of a change, or hold a lock, and runs to its end. So is one for which there is no memory (<see cref="ReplyBlock"/>). What a script reads is for
///     the script, and has the memory of scripts for its limit.
/// </summary>
internal sealed unsafe class ReplyMemory(
    Worker worker, Func<IScripts> scripts, SlowReaders slowReaders, ServerLog log, Action lookAfterwards) : IReplyRoom, IDisposable
{
    internal const int OwnBytes = 512 * 1024;

    private readonly ExtraReplies _extra = new();
    private NativeArray<byte> _own;
    private byte* _reserve; // the end of the reserve that is in use
    private bool _isRefusing; // what is written stands in for a reply that is too long, and is not too long itself

    /// <summary>True when so much stands outside the reactor's own memory that it is to be sent before others write.</summary>
    internal bool IsMuch => _extra.Bytes > ExtraReplies.SharedBytesMax;

    /// <summary>Bytes of a reply at most, by who gets it.</summary>
    internal long ReplyBytesMax(Connection client) =>
        worker.IsForScript ? Math.Min(scripts().MemoryBytesMax, ByteQueue.BytesMax) : slowReaders.ReplyBytesMax(client);

    /// <inheritdoc/>
    public bool TryMakeRoom(RespWriter writer, int bytes)
    {
        Connection? client = worker.Running;
        if (client is null)
            writer.StartAt(writer.Position);
        long most = client is null ? long.MaxValue : worker.IsForScript ? ByteQueue.BytesMax : slowReaders.ReplyBytesMax(client);
        bool isTooLong = writer.IsGivenUp || writer.Mark + bytes > most
            || (worker.IsForScript && !scripts().HasRoom(writer.ReplyBytes + bytes));
        if (isTooLong && !_isRefusing)
        {
            writer.GiveUpReply(); // net.R9
            lookAfterwards();
        }

        long kept = writer.Mark;
        // Twice what there is, or a little more than what is wanted: one large value takes no memory for a second one.
        long size = ExtraReplies.MovesAlways ? kept + bytes
            : Math.Max(Math.Min(kept + Math.Max(kept, bytes) + OwnBytes, most), Math.Max(kept + bytes, OwnBytes));
        byte* memory = _extra.TryGrow(writer.Start, kept, ref size);
        if (memory == null)
        {
            size = kept + bytes;
            memory = _extra.TryGrow(writer.Start, kept, ref size);
        }

        if (memory == null && client is null)
            throw new InsufficientMemoryException(); // no command is running that would have to come to its end
        if (memory == null)
        {
            GiveUp(writer);
            return false;
        }

        _reserve = null;
        if (client is not null)
            client.SegmentStart = memory;
        writer.MoveTo(memory, kept, memory + size);
        return true;
    }

    // The reply is given up; an error takes its place, for which the end of the room moves into a reserve that no reply begins in.
    private void GiveUp(RespWriter writer)
    {
        writer.GiveUpReply(lacksMemory: true);
        if (!IsInReserve)
            writer.Limit = _reserve = writer.Limit + ReplyBlock.ReserveBytes;
        lookAfterwards();
    }

    /// <summary>True if there was no memory for a reply: what stands there is to be sent before others write.</summary>
    internal bool IsInReserve => _reserve != null && _reserve == worker.Out.Limit;

    // What stood in the reserve has been sent, and replies go on from a place.
    private void EndReserve(byte* from)
    {
        if (IsInReserve && from <= _reserve - ReplyBlock.ReserveBytes)
        {
            worker.Out.Limit = _reserve - ReplyBlock.ReserveBytes;
            _reserve = null;
        }
    }

    /// <summary>
    /// True, and the reply is an error now, if the reply of the command that has just run was longer than its client may get (net.R9). Closing is
    /// for those whose class has a limit, as if they did not read.
    /// </summary>
    internal bool ReplacesLong(Connection client)
    {
        if (!worker.Out.IsGivenUp && !IsLong(client, worker.Out.Mark))
            return false;
        long bytes = worker.Out.ReplyBytes;
        bool lacksMemory = worker.Out.LacksMemory;
        worker.Out.TakeBackReply();
        if (lacksMemory)
            Say(client, ReplyBuffer.TextOfLacking(bytes));
        else
            Refuse(client, bytes);
        return true;
    }

    /// <summary>True if a reply that ends at a mark is longer than its client may get. The room for it may have been there already, made for a script or another client.</summary>
    internal bool IsLong(Connection client, long mark) => mark > Worker.SendEarlyBytes && mark > slowReaders.ReplyBytesMax(client);

    /// <summary>Writes the error that stands in for a reply of so many bytes, and closes the client if its class has a limit (net.R9).</summary>
    internal void Refuse(Connection client, long bytes)
    {
        long bytesMax = slowReaders.ReplyBytesMax(client);
        Say(client, ReplyBuffer.TextOfLong(bytes, bytesMax));
        if (!slowReaders.HasHardLimit(client) || client.CloseAfterReply)
            return; // said and counted once: another reply of the same transaction was too long
        worker.Figures.OutputLimitCloses++;
        log.LongReplyClosed(client.Id, client.Peer.Remote, bytes, bytesMax);
        client.CloseAfterReply = true;
    }

    private void Say(Connection client, byte[] text)
    {
        long before = worker.Out.Mark;
        _isRefusing = true;
        try
        {
            worker.Out.Error(text);
        }
        finally
        {
            _isRefusing = false;
        }

        if (worker.Out.Mark == before)
            client.CloseAfterReply = true; // no room even for that: behind a reply that is missing none can be told apart
        worker.Figures.CountError(text);
    }

    /// <summary>Keeps for the client what its socket did not take: the block where it stands, or a copy.</summary>
    internal void Leave(Connection client, byte* from, int count)
    {
        if (client.Out.Count > 0 || !_extra.TryGive(from, count, ref client.Out))
            client.Out.Append(from, count);
    }

    /// <summary>Where the next replies are written after a send: at the same place again, unless that block is the client's own now.</summary>
    internal byte* GoOn(byte* start, long bytesBefore)
    {
        if (_extra.Bytes == bytesBefore)
        {
            EndReserve(start);
            return start;
        }

        long size = OwnBytes;
        start = _extra.TryGrow(null, 0, ref size);
        if (start == null)
            throw new InsufficientMemoryException();
        worker.Out.Limit = start + size;
        _reserve = null;
        return start;
    }

    /// <summary>Bytes outside the reactor's own memory.</summary>
    internal long ExtraBytes => _extra.Bytes;

    /// <summary>Everything has been sent: the next round begins.</summary>
    internal void Reset(RespWriter writer)
    {
        _extra.Free();
        if (_own.Items == null)
            _own = new NativeArray<byte>(OwnBytes + ReplyBlock.ReserveBytes + ReceiveBuffer.Slack, alignment: 64);
        _reserve = null;
        writer.MoveTo(_own.Items, 0, ExtraReplies.MovesAlways ? _own.Items : _own.Items + OwnBytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _extra.Free();
        _own.Dispose();
        _own = default;
    }
}
