namespace Tsavorite.Test.Tiers;

/// <summary>Finds everything sound, so that whoever asks has judged.</summary>
internal sealed class Believer : IValueCheck
{
    public bool IsSound(RecordKind kind, ReadOnlySpan<byte> value) => true;

    public bool IsSound(ref RecordEdit record, out uint limit)
    {
        limit = uint.MaxValue;
        return true;
    }

    public long TimedPartsFrom(RecordKind kind, ReadOnlySpan<byte> value) => value is [(byte)'t', ..] ? 0 : long.MaxValue;
}
