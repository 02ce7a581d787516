namespace Tsavorite;

/// <summary>A record of a snapshot's block on its way into a store. Never logged, so it has no number of its own.</summary>
internal unsafe struct LoadRecord : IModify
{
    private const byte NotLogged = 0;
    /// <summary>Into the block.</summary>
    public byte* Key, Value;
    public int KeyBytes, ValueBytes;
    /// <summary>Bytes of the whole record in the block.</summary>
    public int Bytes;
    public int Database;
    public RecordKind Kind;
    public long ExpireAtMs;
    public ulong ETag, Owner;

    public static byte OpId => NotLogged;
    public readonly long EncodedBytesMax => 0;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.Kind = Kind;
        next.ValueBytes = ValueBytes;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        next.Owner = Owner;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
        new ReadOnlySpan<byte>(Value, ValueBytes).CopyTo(value);

    public readonly int Encode(Span<byte> to) => 0;

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
}
