using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Common;

namespace Garnet.Replication.Frames;

/// <summary>
/// Bytes of a peer, cut into frames. Nothing of them is believed: a length asks for memory only as bytes come, a kind that this
/// side does not take is refused, and after the first fault nothing more is read.
/// </summary>
public sealed class FrameReader : IDisposable
{
    private const int ReceiveBytes = 64 << 10, BytesKept = 1 << 20, SmallBytesMax = 4096;
    private const int BatchBytesMax = LogLimits.PartBodyBytesMax + BatchHeader.Bytes;
    private readonly bool _isReplica;
    private readonly NativeBuffer _bytes = new();
    private int _start, _end;

    private FrameReader(bool isReplica) => _isReplica = isReplica;

    /// <summary>What is wrong with what came; null while nothing is.</summary>
    public string? Fault { get; private set; }

    /// <summary>Reads what a primary sends.</summary>
    public static FrameReader OfPrimary() => new(isReplica: true);

    /// <summary>Reads what a replica sends.</summary>
    public static FrameReader OfReplica() => new(isReplica: false);

    /// <summary>Bytes of memory taken; from any thread.</summary>
    public long Capacity => _bytes.Capacity;

    /// <summary>Room for bytes to come.</summary>
    public Span<byte> Room()
    {
        if (_start == _end)
            Rewind();
        if (_bytes.Capacity - _end < ReceiveBytes)
            MakeRoom();
        return _bytes.Span(_end, _bytes.Capacity - _end);
    }

    /// <summary>So many bytes have come into the room.</summary>
    public void Arrived(int bytes) => _end += bytes;

    /// <summary>The next frame, its body valid until the next call; false if it has not come whole, or there is a fault.</summary>
    public bool TryNext(out FrameKind kind, out ReadOnlySpan<byte> body)
    {
        kind = default;
        body = default;
        if (Fault is not null || _end - _start < FrameFormat.HeaderBytes)
            return false;
        ReadOnlySpan<byte> header = _bytes.Span(_start, FrameFormat.HeaderBytes);
        Fault = FrameFormat.Read(header, out kind, out uint bodyBytes);
        if (Fault is null && bodyBytes > Max(kind))
            Fault = Max(kind) == 0
                ? $"a frame of kind {(byte)kind} is not for this side"
                : $"a frame of kind {(byte)kind} has {bodyBytes} bytes";
        if (Fault is not null || _end - _start - FrameFormat.HeaderBytes < bodyBytes)
            return false;
        body = _bytes.Span(_start + FrameFormat.HeaderBytes, bodyBytes);
        if (!FrameFormat.Holds(header, kind, body))
        {
            Fault = "the checksum of a frame does not hold";
            return false;
        }

        _start += FrameFormat.HeaderBytes + (int)bodyBytes;
        return true;
    }

    private uint Max(FrameKind kind) => kind switch
    {
        FrameKind.Plan or FrameKind.SnapshotEnd or FrameKind.Digest when _isReplica => SmallBytesMax,
        FrameKind.Snapshot when _isReplica => SnapshotInlet.BytesMax,
        FrameKind.Batch when _isReplica => BatchBytesMax,
        FrameKind.Ack or FrameKind.SnapshotAck when !_isReplica => SmallBytesMax,
        FrameKind.Ping or FrameKind.Bye => SmallBytesMax,
        _ => 0,
    };

    private void Rewind()
    {
        _start = _end = 0;
        if (_bytes.Capacity > BytesKept)
            _bytes.Dispose();
    }

    // Twice what has come, never what a header claims.
    private void MakeRoom()
    {
        int kept = _end - _start;
        if (kept > 0)
            _bytes.Span(_start, kept).CopyTo(_bytes.Span(0, kept));
        (_start, _end) = (0, kept);
        if (_bytes.Capacity - kept < ReceiveBytes)
            _bytes.Grow(Math.Min(Math.Max(kept * 2L, kept + (long)ReceiveBytes), Array.MaxLength), keep: kept);
    }

    /// <inheritdoc/>
    public void Dispose() => _bytes.Dispose();
}
