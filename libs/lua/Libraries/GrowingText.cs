namespace Garnet.Lua.Libraries;

/// <summary>
/// Bytes that a library puts together for a script. The memory is kept for the next time, unless it has become large. More than its limit
/// it does not take: what comes then is dropped, and whoever writes asks in time whether it is too long.
/// </summary>
internal sealed class GrowingText(long bytesMax)
{
    private const int BytesFirst = 256, BytesKept = 64 << 10;

    private byte[] _bytes = new byte[BytesFirst];

    /// <summary>Bytes written.</summary>
    internal int Count { get; private set; }

    /// <summary>More was to be written than it takes: what it holds is of no use.</summary>
    internal bool IsTooLong { get; private set; }

    internal ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Count);

    internal void Clear()
    {
        Count = 0;
        IsTooLong = false;
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
        if (_bytes.Length - Count < text.Length)
            Grow(text.Length);
        if (IsTooLong)
            return;
        text.CopyTo(_bytes.AsSpan(Count));
        Count += text.Length;
    }

    /// <summary>Room for some bytes more, a number at most; <see cref="Take"/> says how many it were.</summary>
    internal Span<byte> Room(int bytes)
    {
        Garnet.Common.Faults.Check.That(bytes <= BytesFirst, "a place of one number");
        if (_bytes.Length - Count < bytes)
            Grow(bytes);
        return _bytes.AsSpan(Count);
    }

    internal void Take(int bytes) => Count += bytes;

    // Too long: it begins again, where there is room for all that may come before somebody asks.
    private void Grow(int bytes)
    {
        long wanted = (long)Count + bytes;
        IsTooLong |= wanted > bytesMax;
        if (IsTooLong)
            Count = 0;
        else
            Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, Math.Max(2L * _bytes.Length, wanted)));
    }
}
