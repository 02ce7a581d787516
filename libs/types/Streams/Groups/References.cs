using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>What groups have to do with an entry.</summary>
public static unsafe class References
{
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

    /// <summary>The same for the first so many entries.</summary>
    public static void DeleteFirst(ref RecordEdit edit, long entries)
    {
        StreamWalk walk = StreamWalk.Between(ref edit, StreamId.Min, StreamId.Max);
        for (long i = 0; i < entries && walk.Next(ref edit); i++)
            Delete(ref edit, walk.Current.Id);
    }

    /// <summary>Removes those of the entries to be trimmed that no group refers to; returns how many. Pages do not matter.</summary>
    public static long TrimAcknowledged(ref RecordEdit edit, in TrimPlan plan)
    {
        StreamHeader* root = StreamForm.Header(ref edit);
        long wanted = plan.ByLength ? root->Length - plan.LengthMax : long.MaxValue, removed = 0;
        if (plan.Limit > 0)
            wanted = Math.Min(wanted, plan.Limit);
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
}
