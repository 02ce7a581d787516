using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Types.Collections;

namespace Garnet.Types.SortedSets;

/// <summary>A member that lies elsewhere, by the place that its score gives it.</summary>
internal unsafe struct RankedMember : IComparable<RankedMember>
{
    public double Score;
    public byte* Member;
    public int MemberBytes;

    /// <summary>Of a raw score with the member behind it.</summary>
    public static RankedMember Of(in Operands.Reader scored) => Of(scored.Bytes, scored.Length);

    /// <summary>Of a raw score with the member behind it, so many bytes together.</summary>
    public static RankedMember Of(byte* scored, int bytes) => new()
    {
        Score = Unsafe.ReadUnaligned<double>(scored) + 0.0, // -0 becomes 0
        Member = scored + sizeof(double),
        MemberBytes = bytes - sizeof(double),
    };

    /// <summary>Of a score as a text, and the member that the reader comes to behind it.</summary>
    public static RankedMember OfPair(ref Operands.Reader reader)
    {
        NumberText.TryDouble(reader.Span, out double score);
        reader.Next();
        return new RankedMember { Score = score + 0.0, Member = reader.Bytes, MemberBytes = reader.Length };
    }

    /// <summary>Of an entry.</summary>
    public static RankedMember Of(in Entry entry) => new() { Score = entry.Score, Member = entry.Key, MemberBytes = entry.KeyBytes };

    public readonly ReadOnlySpan<byte> Span => new(Member, MemberBytes);

    /// <summary>As parts of an entry, its score lying at that place.</summary>
    public readonly Entry PartsWith(double* score) =>
        new() { Key = Member, KeyBytes = MemberBytes, Value = (byte*)score, ValueBytes = sizeof(double) };

    public readonly int CompareTo(RankedMember other) =>
        Score < other.Score ? -1 : Score > other.Score ? 1 : Span.SequenceCompareTo(other.Span);
}
