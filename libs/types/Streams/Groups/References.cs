using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>What groups have to do with an entry.</summary>
public static unsafe class References
{
    private const int NotedMax = 1 << 16; // 1 MB of ids at a time

    /// <summary>True if the entry is pending for a group, or was not delivered to one yet.</summary>
    public static bool Has(ref RecordEdit edit, StreamId id)
    {
        NameTable groups = StreamGroups.Groups(ref edit);
        for (int i = 0; i < groups.Count; i++)
        {
            int group = groups.SlotAt(i);
            if (((GroupState*)groups.State(group))->Last < id || StreamGroups.Pending(ref edit, group, id) != null)
                return true;
        }

        return false;
    }

    /// <summary>Ends that the entry is pending, for all groups.</summary>
    public static void Delete(ref RecordEdit edit, StreamId id)
    {
        int count = StreamGroups.Groups(ref edit).Count;
        for (int i = 0; i < count; i++)
            StreamGroups.TryAcknowledge(ref edit, StreamGroups.Groups(ref edit).SlotAt(i), id);
    }

    /// <summary>Has what the policy asks of all groups, or does for them, fetched side by side, if it lies on a tier.</summary>
    public static void LookAhead(ref RecordEdit edit, in StreamIds ids, ReferencePolicy policy)
    {
        int count = policy == ReferencePolicy.Keep || !edit.MayLack ? 0 : StreamGroups.Groups(ref edit).Count;
        for (int i = 0; i < count; i++)
        {
            int group = StreamGroups.Groups(ref edit).SlotAt(i);
            if (policy == ReferencePolicy.Delete)
                IdsAhead.LookAtPending(ref edit, group, ids);
            else
                IdsAhead.LookWhetherPending(ref edit, group, ids);
        }
    }

    /// <summary>Ends that the first so many entries are pending.</summary>
    public static void DeleteFirst(ref RecordEdit edit, long entries)
    {
        if (edit.MayLack)
            LookAtFirst(ref edit, ReferencePolicy.Delete, new TrimPlan { ByLength = true }, entries);
        StreamWalk walk = StreamWalk.Between(ref edit, StreamId.Min, StreamId.Max);
        for (long i = 0; i < entries && walk.Next(ref edit); i++)
            Delete(ref edit, walk.Current.Id);
    }

    /// <summary>Removes those of the entries to be trimmed that no group refers to; returns how many. Pages do not matter.</summary>
    public static long TrimAcknowledged(ref RecordEdit edit, in TrimPlan plan)
    {
        long wanted = Wanted(ref edit, plan), removed = 0;
        if (edit.MayLack)
            LookAtFirst(ref edit, ReferencePolicy.Acknowledged, plan, wanted);
        StreamWalk walk = StreamWalk.Between(ref edit, StreamId.Min, StreamId.Max);
        while (removed < wanted && walk.Next(ref edit) && (plan.ByLength || walk.Current.Id < plan.MinId))
        {
            StreamId id = walk.Current.Id;
            if (Has(ref edit, id))
                continue;
            StreamForm.TryDelete(ref edit, id);
            removed++;
            walk = StreamWalk.Between(ref edit, id, StreamId.Max); // its page may be gone
        }

        return removed;
    }

    /// <summary>How many of the entries go at most that no group refers to.</summary>
    internal static long Wanted(ref RecordEdit edit, in TrimPlan plan)
    {
        long wanted = plan.ByLength ? StreamForm.Header(ref edit)->Length - plan.LengthMax : long.MaxValue;
        return plan.Limit > 0 ? Math.Min(wanted, plan.Limit) : wanted;
    }

    /// <summary>
    /// Looks at what groups have of the first so many entries of those to be trimmed. As many at a time as are wanted: which of them go may be known once that is there which
    /// the groups have of them.
    /// </summary>
    internal static void LookAtFirst(ref RecordEdit edit, ReferencePolicy policy, in TrimPlan plan, long wanted)
    {
        var ids = default(ByteQueue);
        try
        {
            StreamWalk walk = StreamWalk.Between(ref edit, StreamId.Min, StreamId.Max);
            for (bool hasMore = true; hasMore && wanted > 0; ids.Free())
            {
                for (long left = Math.Min(wanted, NotedMax); left > 0 && hasMore; left--)
                {
                    hasMore = walk.Next(ref edit) && (plan.ByLength || walk.Current.Id < plan.MinId);
                    if (hasMore)
                        Claims.Note(ref ids, walk.Current.Id);
                }

                StreamIds noted = StreamIds.Noted(ids);
                LookAhead(ref edit, noted, policy);
                for (int i = 0; i < noted.Count; i++)
                    wanted -= policy == ReferencePolicy.Acknowledged && Has(ref edit, noted[i]) ? 0 : 1;
            }
        }
        finally
        {
            ids.Free(); // common.Q1
        }
    }
}
