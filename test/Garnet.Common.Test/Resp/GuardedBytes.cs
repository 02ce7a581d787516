using Garnet.Common.Linux;

namespace Garnet.Common.Test.Resp;

/// <summary>Memory whose last byte is followed by pages that must not be touched: a read beyond the promised slack ends the process.</summary>
internal sealed unsafe class GuardedBytes : IDisposable
{
    /// <summary>Bytes behind the end that the parser may read, though it must not use them.</summary>
    public const int Slack = 64;

    private const int PageBytes = 4096, MapFixed = 0x10;

    private readonly byte* _memory;
    private readonly nint _usable;

    public GuardedBytes(int bytesMax)
    {
        _usable = ((bytesMax + Slack + PageBytes - 1) / PageBytes * PageBytes) + PageBytes;
        _memory = (byte*)Libc.mmap(null, _usable + PageBytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0);
        Libc.mmap(_memory + _usable, PageBytes, 0, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS | MapFixed, -1, 0);
    }

    /// <summary>The bytes, their end as near to the guard as the slack allows, with the given byte all over the slack.</summary>
    public byte* Place(ReadOnlySpan<byte> bytes, byte slack)
    {
        byte* start = _memory + _usable - Slack - bytes.Length;
        bytes.CopyTo(new Span<byte>(start, bytes.Length));
        new Span<byte>(start + bytes.Length, Slack).Fill(slack);
        return start;
    }

    public void Dispose() => _ = Libc.munmap(_memory, _usable + PageBytes);
}
