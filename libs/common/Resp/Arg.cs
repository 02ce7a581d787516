namespace Garnet.Common.Resp;

/// <summary>One argument of a command: bytes in the receive arena, valid until the command has run.</summary>
public unsafe struct Arg
{
    /// <summary>First byte; at least 64 readable bytes lie behind the last one.</summary>
    public byte* Bytes;

    /// <summary>Length in bytes.</summary>
    public int Length;

    /// <summary>The bytes.</summary>
    public readonly ReadOnlySpan<byte> Span => new(Bytes, Length);
}
