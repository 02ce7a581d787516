namespace Garnet.Server.Scripting.Libraries;

/// <summary>Bytes that a library puts together for a script. The memory is kept for the next time, unless it has become large.</summary>
internal sealed class GrowingText
{
    private const int BytesFirst = 256, BytesKept = 64 << 10;

    private byte[] _bytes = new byte[BytesFirst];

    /// <summary>Bytes written.</summary>
    internal int Count { get; private set; }

    internal ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Count);

    internal void Clear()
    {
        Count = 0;
        if (_bytes.Length > BytesKept)
            _bytes = new byte[BytesFirst];
    }

    internal void Add(byte value)
    {
        if (Count == _bytes.Length)
            Grow(1);
        _bytes[Count++] = value;
    }

    internal void Add(ReadOnlySpan<byte> text)
    {
        text.CopyTo(Room(text.Length));
        Count += text.Length;
    }

    /// <summary>Room for at least so many bytes more; <see cref="Take"/> says how many it were.</summary>
    internal Span<byte> Room(int bytes)
    {
        if (_bytes.Length - Count < bytes)
            Grow(bytes);
        return _bytes.AsSpan(Count);
    }

    internal void Take(int bytes) => Count += bytes;

    private void Grow(int bytes) => Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, Math.Max(2L * _bytes.Length, (long)Count + bytes)));
}
