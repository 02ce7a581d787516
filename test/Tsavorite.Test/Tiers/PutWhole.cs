namespace Tsavorite.Test.Tiers;

/// <summary>Sets all of a key, whatever it was.</summary>
internal struct PutWhole : IModify
{
    public byte[] Value;

    public static byte OpId => 212;
    public readonly bool IsBlind => true;
    public readonly long EncodedBytesMax => Value.Length;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next = new NewRecord { Kind = RecordKind.String, ValueBytes = Value.Length };
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => Value.CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        Value.CopyTo(to);
        return Value.Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        Value = from.ToArray();
        return true;
    }
}
