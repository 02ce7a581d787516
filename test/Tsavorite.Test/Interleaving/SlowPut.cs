namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Writes a value of one letter in two halves with a yield between; with <see cref="Appends"/> behind what is there.
/// </summary>
internal struct SlowPut : IModify
{
    public byte Letter;
    public int Bytes;
    public bool Appends;
    public long ExpireAtMs;
    public int Result;

    public static byte OpId => 230;
    public readonly long EncodedBytesMax => 0;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.ValueBytes = Appends ? existing.ValueBytes + Bytes : Bytes;
        next.ExpireAtMs = ExpireAtMs;
        Result = next.ValueBytes;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        int start = Appends ? existing.ValueBytes : 0, half = (value.Length - start) / 2;
        if (!inPlace) existing.ValueSpan[..start].CopyTo(value);
        value.Slice(start, half).Fill(Letter);
        StoreTestHooks.Yield(YieldPoint.Value);
        value[(start + half)..].Fill(Letter);
    }

    public readonly int Encode(Span<byte> to) => 0;
    public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
}
