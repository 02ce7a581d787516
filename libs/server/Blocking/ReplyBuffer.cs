using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Net;

namespace Garnet.Server.Blocking;

/// <summary>Where the reply to somebody else's command is written, before it is handed over.</summary>
internal sealed unsafe class ReplyBuffer : IReplyRoom, IDisposable
{
    private const int FirstBytes = 4096;

    private byte* _start;
    private long _bytes = FirstBytes;
    private long _givenUpBytes; // R9

    internal ReplyBuffer()
    {
        Out = new RespWriter(this);
        _start = (byte*)NativeMemory.Alloc(FirstBytes + RespWriter.Slack);
    }

    internal RespWriter Out { get; }

    /// <summary>Begins a reply.</summary>
    internal RespWriter Begin(bool resp3)
    {
        Out.Resp3 = resp3;
        Out.Position = _start;
        Out.Limit = _start + _bytes;
        _givenUpBytes = 0;
        return Out;
    }

    /// <summary>The reply; one that is longer than any client may get is an error by now (R9).</summary>
    internal byte[] Take()
    {
        if (_givenUpBytes > 0)
        {
            long bytes = _givenUpBytes + (Out.Position - _start);
            Out.Position = _start;
            Out.Error(Encoding.Latin1.GetBytes($"ERR the reply of {bytes} bytes is beyond the limit of {ByteQueue.BytesMax}; the command has run"));
        }

        byte[] reply = new ReadOnlySpan<byte>(_start, (int)(Out.Position - _start)).ToArray();
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
        long kept = writer.Position - _start;
        if (kept + bytes > ByteQueue.BytesMax)
        {
            _givenUpBytes += kept;
            kept = 0;
        }

        _bytes = Math.Max(_bytes, Math.Min((kept + bytes) * 2, ByteQueue.BytesMax));
        _start = (byte*)NativeMemory.Realloc(_start, (nuint)_bytes + RespWriter.Slack);
        writer.Position = _start + kept;
        writer.Limit = _start + _bytes;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        NativeMemory.Free(_start);
        _start = null;
    }
}
