using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Types.SortedSets;

/// <summary>A place between the elements of a sorted set: some lie below it, the rest above.</summary>
public unsafe struct SortBound
{
    public BoundKind Kind;
    public double Score;
    public byte* Member;
    public int MemberBytes;
    /// <summary>True if elements that equal the bound lie below it.</summary>
    public bool Including;

    public static SortBound Of(double score, byte* member, int bytes) =>
        new() { Kind = BoundKind.Element, Score = score, Member = member, MemberBytes = bytes };

    /// <summary>Reads <c>1.5</c>, <c>(1.5</c>, <c>-inf</c>: as the lower end of a range, or the upper.</summary>
    public static bool TryScore(Arg text, bool upper, out SortBound bound)
    {
        ReadOnlySpan<byte> number = text.Span;
        bool exclusive = number.Length > 0 && number[0] == '(';
        bound = new SortBound { Kind = BoundKind.Score, Including = exclusive != upper };
        number = number[(exclusive ? 1 : 0)..];
        return number.IsEmpty || NumberText.TryLoose(number, out bound.Score);
    }

    /// <summary>Reads <c>[member</c>, <c>(member</c>, <c>-</c>, <c>+</c>.</summary>
    public static bool TryMember(Arg text, bool upper, out SortBound bound)
    {
        bound = default;
        if (text.Length == 0)
            return false;
        byte sign = *text.Bytes;
        if (text.Length == 1 && sign is (byte)'-' or (byte)'+')
        {
            bound.Kind = sign == '-' ? BoundKind.Nothing : BoundKind.Everything;
            return text.Length == 1;
        }

        bound = new SortBound
        {
            Kind = BoundKind.Member,
            Member = text.Bytes + 1,
            MemberBytes = text.Length - 1,
            Including = sign == '(' != upper,
        };
        return sign is (byte)'(' or (byte)'[';
    }

    /// <summary>True if the element lies below.</summary>
    public readonly bool IsAbove(double score, ReadOnlySpan<byte> member)
    {
        switch (Kind)
        {
            case BoundKind.Score:
                return score < Score || (Including && score == Score);
            case BoundKind.Element when score != Score:
                return score < Score;
            case BoundKind.Element or BoundKind.Member:
                int order = member.SequenceCompareTo(new ReadOnlySpan<byte>(Member, MemberBytes));
                return order < 0 || (Including && order == 0);
            default:
                return Kind == BoundKind.Everything;
        }
    }
}
