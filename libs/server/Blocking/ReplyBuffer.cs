using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Base;

namespace Garnet.Server.Blocking;

/// <summary>Where the reply to somebody else's command is written, before it is handed over.</summary>
internal sealed unsafe class ReplyBuffer : IReplyRoom, IDisposable
{
    private const int FirstBytes = 4096;

    private byte* _start;
    private long _bytes = FirstBytes, _bytesMax; // of the block

    internal ReplyBuffer()
    {
        Out = new RespWriter(this);
        _start = ReplyBlock.TryGrow(null, ref _bytes);
        if (_start == null)
            throw new InsufficientMemoryException();
    }

    internal RespWriter Out { get; }

    /// <summary>Begins a reply of so many bytes at most, as its client may get; one of a few bytes has room whatever the limit.</summary>
    internal RespWriter Begin(bool resp3, long bytesMax = ByteQueue.BytesMax)
    {
        _bytesMax = Math.Max(bytesMax, FirstBytes);
        Out.Resp3 = resp3;
        Out.MoveTo(_start, 0, _start + _bytes);
        Out.StartAt(_start);
        return Out;
    }

    /// <summary>Bytes of a reply that is longer than its client may get (net.R9); 0 if it is not.</summary>
    internal long TooLongBytes => Out is { IsGivenUp: true, LacksMemory: false } ? Out.ReplyBytes : 0;

    /// <summary>What stands in for a reply that is too long.</summary>
    internal static byte[] TextOfLong(long bytes, long bytesMax) =>
        Encoding.Latin1.GetBytes($"ERR the reply of {bytes} bytes{(bytes > bytesMax ? "" : ", with what stands before it,")} is beyond " +
            $"the limit of {bytesMax}; the command has run");

    /// <summary>What stands in for a reply for which there was no memory.</summary>
    internal static byte[] TextOfLacking(long bytes) =>
        Encoding.Latin1.GetBytes($"ERR the system has no memory for the reply of {bytes} bytes; the command has run");

    /// <summary>The reply; one that is longer than its client may get is an error by now (net.R9).</summary>
    internal byte[] Take()
    {
        if (Out.IsGivenUp)
        {
            byte[] text = Out.LacksMemory ? TextOfLacking(Out.ReplyBytes) : TextOfLong(Out.ReplyBytes, _bytesMax);
            Out.TakeBackTo(0);
            Out.Error(text);
        }

        byte[] reply = Out.Since(0).ToArray();
        if (_bytes > FirstBytes)
        {
            long bytes = FirstBytes;
            byte* less = ReplyBlock.TryGrow(null, ref bytes);
            if (less != null)
            {
                ReplyBlock.Free(_start, _bytes);
                _start = less;
                _bytes = bytes;
            }
        }

        return reply;
    }

    /// <inheritdoc/>
    bool IReplyRoom.TryMakeRoom(RespWriter writer, int bytes)
    {
        if (writer.Mark + bytes > _bytesMax)
            writer.GiveUpReply();
        long kept = writer.Mark;
        long size = Math.Max(_bytes, Math.Max(kept + bytes, Math.Min((kept + bytes) * 2, _bytesMax)));
        byte* memory = ReplyBlock.TryGrow(_start, ref size);
        if (memory == null)
        {
            writer.GiveUpReply(lacksMemory: true);
            writer.Limit = _start + _bytes + ReplyBlock.ReserveBytes;
            return false;
        }

        _start = memory;
        _bytes = size;
        writer.MoveTo(memory, kept, memory + size);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        ReplyBlock.Free(_start, _bytes);
        _start = null;
    }
}
