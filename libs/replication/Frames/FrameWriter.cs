using Garnet.Common;

namespace Garnet.Replication.Frames;

/// <summary>Frames on their way out, one behind the other; the memory is used again.</summary>
public sealed class FrameWriter : IDisposable
{
    private const int FirstBytes = 64 << 10, BytesKept = 1 << 20;
    private readonly NativeBuffer _bytes = new();

    /// <summary>Bytes gathered.</summary>
    public int Count { get; private set; }

    /// <summary>Bytes of memory taken; from any thread.</summary>
    public long Capacity => _bytes.Capacity;

    /// <summary>The bytes gathered.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes.Span(0, Count);

    /// <summary>Adds a frame; its body may be given in two pieces.</summary>
    public void Add(FrameKind kind, ReadOnlySpan<byte> body, ReadOnlySpan<byte> more = default)
    {
        int bytes = Bytes32(FrameFormat.HeaderBytes + (long)body.Length + more.Length);
        int needed = Bytes32((long)Count + bytes);
        if (_bytes.Capacity < needed)
            _bytes.Grow(Math.Max(needed, Math.Min(Math.Max(_bytes.Capacity * 2, FirstBytes), Array.MaxLength)), keep: Count);
        Span<byte> to = _bytes.Span(Count, bytes);
        FrameFormat.Write(to, kind, body, more);
        body.CopyTo(to[FrameFormat.HeaderBytes..]);
        more.CopyTo(to[(FrameFormat.HeaderBytes + body.Length)..]);
        Count += bytes;
    }

    /// <summary>The length as it is written; what cannot be ends the link that it was to go over, and nothing else (replication.P5).</summary>
    public static int Bytes32(long bytes) => bytes <= Array.MaxLength ? (int)bytes
        : throw new GarnetException(ExitKind.Data, $"{bytes} bytes cannot be sent to a replica at once",
            "a frame, with those before it, is shorter than 2 GiB", "Write such data in several steps.");

    /// <summary>All has been sent.</summary>
    public void Clear()
    {
        Count = 0;
        if (_bytes.Capacity > BytesKept)
            _bytes.Dispose();
    }

    /// <inheritdoc/>
    public void Dispose() => _bytes.Dispose();
}
