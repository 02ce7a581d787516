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

    /// <summary>For so many members from a rank on, which are removed; with the chunks that have them by name.</summary>
    public static void LookToCut(ref RecordEdit edit, long rank, long count)
    {
        if (count > 1 && MembersAhead.MayLack(ref edit))
            LookAtCut(ref edit, rank, count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookAtCut(ref RecordEdit edit, long rank, long count)
    {
        do
        {
            edit.BeginForesight();
            LookAtPages(ref edit, rank, count);
        }
        while (edit.AwaitForeseen());
        do
        {
            MembersAhead ahead = new(ref edit);
            if (TryLookAtMembers(ref edit, ahead, rank, count) && edit.LacksNone())
                LookAtJoined(ref edit, rank, count);
        }
        while (edit.AwaitForeseen());
        if (!Root.Has(edit.Value, RootFlags.Expiring))
            return;
        do
        {
            edit.BeginForesight();
            LookAtTimes(ref edit, rank, count);
        }
        while (edit.AwaitForeseen());
    }

    private static void LookAtPages(ref RecordEdit edit, long rank, long count)
    {
        PageSpot page = PageDirectory.Seek(ref edit, ref rank);
        for (long left = count + rank; left > 0 && edit.TryForesee(page.Number); PageDirectory.TryNext(ref edit, ref page))
            left -= PageDirectory.CountOf(ref edit, page);
    }

    private static bool TryLookAtMembers(ref RecordEdit edit, MembersAhead ahead, long rank, long count)
    {
        var walk = default(SortedWalk);
        walk.Begin(ref edit, rank, default);
        for (; count > 0 && walk.Next(ref edit); count--)
        {
            if (!ahead.TryLook(ref edit, walk.Member, walk.MemberBytes))
                return false;
        }

        return true;
    }

    private static void LookAtJoined(ref RecordEdit edit, long rank, long count)
    {
        long bytes = 0, left = count;
        var walk = default(SortedWalk);
        walk.Begin(ref edit, rank, default);
        for (; left > 0 && walk.Next(ref edit); left--)
        {
            Members.Find(ref edit, EntryForm.Scored, walk.Member, walk.MemberBytes, out Entry entry);
            bytes += entry.Bytes;
        }

        ResizeAhead.LookAtJoined(ref edit, count, bytes);
    }

    private static void LookAtTimes(ref RecordEdit edit, long rank, long count)
    {
        var walk = default(SortedWalk);
        walk.Begin(ref edit, rank, default);
        for (; count > 0 && walk.Next(ref edit); count--)
        {
            Members.Find(ref edit, EntryForm.Scored, walk.Member, walk.MemberBytes, out Entry entry);
            if (!SortedTimes.TryForesee(ref edit, entry))
                return;
        }
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
            if (!TryForesee(ref edit, member))
                return;
            if (arePairs && !SortedOrder.TryForesee(ref edit, member, member.Score))
                return;
        }
    }

    private static RankedMember Next(ref Operands.Reader reader, bool arePairs) => arePairs
        ? RankedMember.OfPair(ref reader)
        : new RankedMember { Member = reader.Bytes, MemberBytes = reader.Length };

    // Where it lies in order, and by time.
    private static bool TryForesee(ref RecordEdit edit, in RankedMember member) => !Find(ref edit, member, out Entry entry)
        || (SortedOrder.TryForesee(ref edit, member, entry.Score) && SortedTimes.TryForesee(ref edit, entry));

    private static bool Find(ref RecordEdit edit, in RankedMember member, out Entry entry) =>
        Members.Find(ref edit, EntryForm.Scored, member.Member, member.MemberBytes, out entry);
}
