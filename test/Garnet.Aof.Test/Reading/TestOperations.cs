using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>Replaces the value by the arguments.</summary>
internal unsafe struct PutBytes : IModify
{
    private byte* _from;
    private int _bytes;

    public static byte OpId => 200;
    public readonly long EncodedBytesMax => _bytes;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.ValueBytes = _bytes;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
        new ReadOnlySpan<byte>(_from, _bytes).CopyTo(value);
    public readonly int Encode(Span<byte> to)
    {
        new ReadOnlySpan<byte>(_from, _bytes).CopyTo(to);
        return _bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        fixed (byte* at = from) _from = at;
        _bytes = from.Length;
        return true;
    }
}

/// <summary>Puts the arguments behind the value: done twice or in another order, it leaves something else. Refuses empty ones.</summary>
internal unsafe struct Extend : IModify
{
    private byte* _from;
    private int _bytes;

    public static byte OpId => 201;
    public readonly long EncodedBytesMax => _bytes;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.ValueBytes = existing.ValueBytes + _bytes;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        if (!inPlace) existing.ValueSpan.CopyTo(value);
        new ReadOnlySpan<byte>(_from, _bytes).CopyTo(value[existing.ValueBytes..]);
    }

    public readonly int Encode(Span<byte> to)
    {
        new ReadOnlySpan<byte>(_from, _bytes).CopyTo(to);
        return _bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        fixed (byte* at = from) _from = at;
        _bytes = from.Length;
        return _bytes > 0;
    }
}

/// <summary>Copies a value out.</summary>
internal struct ReadText : IRead
{
    public string? Text;
    public void Look(in RecordView record) => Text = System.Text.Encoding.ASCII.GetString(record.ValueSpan);
}
