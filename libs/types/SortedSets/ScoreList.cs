using System.Runtime.InteropServices;
using Garnet.Types.Collections;

namespace Garnet.Types.SortedSets;

/// <summary>The members that a <see cref="MemberAlgebra"/> found, brought into the order of a sorted set.</summary>
public sealed unsafe class ScoreList
{
    private readonly List<(double Score, nint Member, int Bytes)> _members = [];

    public ScoreList(in Operands found)
    {
        for (Operands.Reader reader = found.Read(); reader.Next();)
            _members.Add((MemoryMarshal.Read<double>(reader.Span), (nint)reader.Bytes + sizeof(double), reader.Length - sizeof(double)));
    }

    public int Count => _members.Count;

    public double ScoreAt(int index) => _members[index].Score;

    public ReadOnlySpan<byte> MemberAt(int index) => new((byte*)_members[index].Member, _members[index].Bytes);

    public void Sort() => _members.Sort(static (left, right) =>
    {
        int order = left.Score.CompareTo(right.Score);
        return order != 0 ? order : new ReadOnlySpan<byte>((byte*)left.Member, left.Bytes)
            .SequenceCompareTo(new ReadOnlySpan<byte>((byte*)right.Member, right.Bytes));
    });
}
