using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>A sorted set in chunks: its members, their order and their times, and that all three say the same (sortedsets.Z1, sortedsets.Z3).</summary>
public static class SortedCheck
{
    public static bool IsSound(ref RecordEdit edit, ref uint limit)
    {
        if (edit.ValueBytes < PageDirectory.FirstRootBytes
            || !MembersCheck.AreChunked(ref edit, EntryForm.Scored, ref limit, out MemberTally members))
            return false;
        var order = new SequenceTally { Kind = SequenceKind.Sorted };
        if (!SequenceCheck.IsDirectory(ref edit, ref limit, ref order) || order.Count != members.Count || order.Scores != members.Scores)
            return false;
        return SortedTimes.IsSound(ref edit, ref limit, out ulong times) && times == members.Times;
    }
}
