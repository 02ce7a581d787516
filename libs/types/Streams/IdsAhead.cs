using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Has what a command of many ids comes to fetched side by side, if it lies on a tier: pages of the stream, and those of the maps that say what is pending for a group.
/// Used before the command changes anything; for a stream that is all in memory it costs nothing.
/// </summary>
public static unsafe class IdsAhead
{
    /// <summary>The entries themselves.</summary>
    public static void LookAtEntries(ref RecordEdit edit, in StreamIds ids)
    {
        if (ids.Count > 1 && edit.MayLack)
            LookAtAllEntries(ref edit, ids);
    }

    /// <summary>What is pending for a group under the ids, by the group, by consumers and by time.</summary>
    public static void LookAtPending(ref RecordEdit edit, int group, in StreamIds ids)
    {
        if (ids.Count > 1 && edit.MayLack)
            LookAtAllPending(ref edit, group, ids);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookAtAllEntries(ref RecordEdit edit, in StreamIds ids)
    {
        do
        {
            edit.BeginForesight();
            for (int i = 0; i < ids.Count && StreamForm.TryForesee(ref edit, ids[i]); i++)
            {
            }
        }
        while (edit.AwaitForeseen());
    }

    // Who has an entry, and since when, is known once that is there which the group has of it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookAtAllPending(ref RecordEdit edit, int group, in StreamIds ids)
    {
        do
        {
            edit.BeginForesight();
            for (int i = 0; i < ids.Count && StreamGroups.TryForesee(ref edit, group, ids[i]); i++)
            {
            }
        }
        while (edit.AwaitForeseen());
        do
        {
            edit.BeginForesight();
            for (int i = 0; i < ids.Count && StreamGroups.TryForeseeOwned(ref edit, group, ids[i]); i++)
            {
            }
        }
        while (edit.AwaitForeseen());
    }
}
