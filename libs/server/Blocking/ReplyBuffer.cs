using System.Runtime.InteropServices;
using Garnet.Common.Resp;

namespace Garnet.Server.Blocking;

/// <summary>Where the reply to somebody else's command is written, before it is handed over.</summary>
internal sealed unsafe class ReplyBuffer : IReplyRoom, IDisposable
{
    private const int FirstBytes = 4096;

    private byte* _start;
    private int _bytes = FirstBytes;

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
        return Out;
    }

    /// <summary>The reply.</summary>
    internal byte[] Take()
    {
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
        int kept = (int)(writer.Position - _start);
        _bytes = checked((kept + bytes) * 2);
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
