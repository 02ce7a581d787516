using System.Runtime.CompilerServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// Has the pages fetched side by side in which named members of a sorted set lie in order, or will lie, if they are on a tier. Which these are is known once the
/// chunks of the members are there (<see cref="MembersAhead"/>).
/// </summary>
internal static unsafe class PagesAhead
{
    /// <summary>For a list of members, or of scores with a member behind each.</summary>
    public static void Look(ref RecordEdit edit, in Operands operands, bool arePairs)
    {
        if (operands.Count > (arePairs ? 2 : 1) && MembersAhead.MayLack(ref edit))
            LookAtAll(ref edit, operands, arePairs);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookAtAll(ref RecordEdit edit, in Operands operands, bool arePairs)
    {
        // What is still lacked of the members is waited for before any page is named.
        for (Operands.Reader reader = operands.Read(); reader.Next();) Find(ref edit, Next(ref reader, arePairs), out _);
        do
        {
            edit.BeginForesight();
            LookAtPages(ref edit, operands, arePairs);
        }
        while (edit.AwaitForeseen());
    }

    private static void LookAtPages(ref RecordEdit edit, in Operands operands, bool arePairs)
    {
        for (Operands.Reader reader = operands.Read(); reader.Next();)
        {
            RankedMember member = Next(ref reader, arePairs);
            if (Find(ref edit, member, out double score) && !SortedOrder.TryForesee(ref edit, member, score))
                return;
            if (arePairs && !SortedOrder.TryForesee(ref edit, member, member.Score))
                return;
        }
    }

    private static RankedMember Next(ref Operands.Reader reader, bool arePairs) => arePairs
        ? RankedMember.OfPair(ref reader)
        : new RankedMember { Member = reader.Bytes, MemberBytes = reader.Length };

    private static bool Find(ref RecordEdit edit, in RankedMember member, out double score)
    {
        bool isThere = Members.Find(ref edit, EntryForm.Scored, member.Member, member.MemberBytes, out Entry entry);
        score = isThere ? entry.Score : 0;
        return isThere;
    }
}
