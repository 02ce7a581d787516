using Garnet.Common;

namespace Garnet.Server.Net;

/// <summary>A piece of native memory, filled from its start, used afresh each round: the same cache lines for every connection.</summary>
internal sealed unsafe class ReceiveBuffer : IDisposable
{
    /// <summary>Readable and writable bytes behind the end.</summary>
    public const int Slack = 128;

    private readonly NativeArray<byte> _memory;
    private bool _isDisposed;

    /// <summary>Takes the memory.</summary>
    public ReceiveBuffer(int bytes)
    {
        _memory = new NativeArray<byte>(bytes + Slack, alignment: 64);
        Position = _memory.Items;
        End = Position + bytes;
    }

    /// <summary>First byte of it.</summary>
    public byte* Start => _memory.Items;

    /// <summary>First free byte.</summary>
    public byte* Position;

    /// <summary>Its end, slack not counted.</summary>
    public byte* End { get; }

    /// <summary>Free bytes.</summary>
    public long Left => End - Position;

    /// <summary>Makes everything free.</summary>
    public void Reset() => Position = _memory.Items;

    /// <summary>Moves the position to the cache line behind <paramref name="end"/>.</summary>
    public void Advance(byte* end) => Position = (byte*)(((nint)end + Slack + 63) & ~63);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!_isDisposed)
            _memory.Dispose();
        _isDisposed = true;
    }
}
