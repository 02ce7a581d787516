namespace Garnet.Server.Replication.Frames;

/// <summary>Frames on their way out, one behind the other; the memory is used again.</summary>
internal sealed class FrameWriter
{
    private const int BytesKept = 1 << 20;
    private byte[] _bytes = new byte[64 << 10];

    /// <summary>Bytes gathered.</summary>
    internal int Count { get; private set; }

    /// <summary>The bytes gathered.</summary>
    internal ReadOnlySpan<byte> Bytes => _bytes.AsSpan(0, Count);

    /// <summary>Adds a frame; its body may be given in two pieces.</summary>
    internal void Add(FrameKind kind, ReadOnlySpan<byte> body, ReadOnlySpan<byte> more = default)
    {
        int bytes = Bytes32(FrameFormat.HeaderBytes + (long)body.Length + more.Length);
        int needed = Bytes32((long)Count + bytes);
        if (_bytes.Length < needed)
            Array.Resize(ref _bytes, (int)Math.Min(Math.Max(_bytes.Length * 2L, needed), Array.MaxLength));
        Span<byte> to = _bytes.AsSpan(Count, bytes);
        FrameFormat.Write(to, kind, body, more);
        body.CopyTo(to[FrameFormat.HeaderBytes..]);
        more.CopyTo(to[(FrameFormat.HeaderBytes + body.Length)..]);
        Count += bytes;
    }

    /// <summary>The length as it is written; what cannot be ends the link that it was to go over, and nothing else (replication.P5).</summary>
    internal static int Bytes32(long bytes) => bytes <= Array.MaxLength ? (int)bytes
        : throw new Garnet.Common.GarnetException(Garnet.Common.ExitKind.Data, $"{bytes} bytes cannot be sent to a replica at once", "a frame, with those before it, is shorter than 2 GiB", "Write such data in several steps.");

    /// <summary>All has been sent.</summary>
    internal void Clear()
    {
        Count = 0;
        if (_bytes.Length > BytesKept)
            _bytes = new byte[BytesKept];
    }
}
