using Garnet.Types.Collections;

namespace Garnet.Types.SortedSets;

/// <summary>A member that lies elsewhere, by the place that its score gives it.</summary>
internal unsafe struct RankedMember : IComparable<RankedMember>
{
    public double Score;
    public byte* Member;
    public int MemberBytes;

    /// <summary>Of a raw score with the member behind it.</summary>
    public static RankedMember Of(in Operands.Reader scored) => new()
    {
        Score = *(double*)scored.Bytes + 0.0, // -0 becomes 0
        Member = scored.Bytes + sizeof(double),
        MemberBytes = scored.Length - sizeof(double),
    };

    /// <summary>Of an entry.</summary>
    public static RankedMember Of(in Entry entry) => new() { Score = entry.Score, Member = entry.Key, MemberBytes = entry.KeyBytes };

    public readonly ReadOnlySpan<byte> Span => new(Member, MemberBytes);

    /// <summary>As parts of an entry, its score lying at that place.</summary>
    public readonly Entry PartsWith(double* score) =>
        new() { Key = Member, KeyBytes = MemberBytes, Value = (byte*)score, ValueBytes = sizeof(double) };

    public readonly int CompareTo(RankedMember other) =>
        Score < other.Score ? -1 : Score > other.Score ? 1 : Span.SequenceCompareTo(other.Span);
}
