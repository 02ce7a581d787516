using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Server.Blocking;

/// <summary>Where the reply to somebody else's command is written, before it is handed over.</summary>
internal sealed unsafe class ReplyBuffer : IReplyRoom, IDisposable
{
    private const int FirstBytes = 4096;

    private byte* _start;
    private long _bytes = FirstBytes, _bytesMax;

    internal ReplyBuffer()
    {
        Out = new RespWriter(this);
        _start = (byte*)NativeMemory.Alloc(FirstBytes + RespWriter.Slack);
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
    internal long TooLongBytes => Out.IsGivenUp ? Out.ReplyBytes : 0;

    /// <summary>What stands in for a reply that is too long.</summary>
    internal static byte[] TextOfLong(long bytes, long bytesMax) =>
        Encoding.Latin1.GetBytes($"ERR the reply of {bytes} bytes{(bytes > bytesMax ? "" : ", with what stands before it,")} is beyond the limit of {bytesMax}; the command has run");

    /// <summary>The reply; one that is longer than its client may get is an error by now (net.R9).</summary>
    internal byte[] Take()
    {
        if (TooLongBytes is > 0 and var bytes)
        {
            Out.TakeBackTo(0);
            Out.Error(TextOfLong(bytes, _bytesMax));
        }

        byte[] reply = Out.Since(0).ToArray();
        if (_bytes > FirstBytes)
        {
            _bytes = FirstBytes;
            _start = (byte*)NativeMemory.Realloc(_start, FirstBytes + RespWriter.Slack);
        }

        return reply;
    }

    /// <inheritdoc/>
    void IReplyRoom.MakeRoom(RespWriter writer, int bytes)
    {
        if (writer.Mark + bytes > _bytesMax)
            writer.GiveUpReply();
        long kept = writer.Mark;
        _bytes = Math.Max(_bytes, Math.Max(kept + bytes, Math.Min((kept + bytes) * 2, _bytesMax)));
        _start = (byte*)NativeMemory.Realloc(_start, (nuint)_bytes + RespWriter.Slack);
        writer.MoveTo(_start, kept, _start + _bytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        NativeMemory.Free(_start);
        _start = null;
    }
}
