using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Has what a command of many ids, or over many, comes to fetched side by side, if it lies on a tier: pages of the stream, and those of the maps that say what is pending for a group.
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

    /// <summary>What is pending for a group under the ids, by the group, by consumers and by time; and where each will be, if it becomes so.</summary>
    public static void LookAtPending(ref RecordEdit edit, int group, in StreamIds ids, PendingState? becomes = null)
    {
        if (ids.Count > 1 && edit.MayLack)
            LookAtAllPending(ref edit, group, ids, becomes);
    }

    /// <summary>Whether something is pending for a group under the ids.</summary>
    public static void LookWhetherPending(ref RecordEdit edit, int group, in StreamIds ids)
    {
        if (ids.Count > 1 && edit.MayLack)
            LookByGroup(ref edit, group, ids);
    }

    /// <summary>All that is pending for a consumer.</summary>
    public static void LookAtConsumer(ref RecordEdit edit, int group, int consumer)
    {
        if (!edit.MayLack)
            return;
        var noted = default(ByteQueue);
        try
        {
            var first = new PendingKey(StreamGroups.Owner(group, consumer), StreamId.Min);
            Note(ref edit, StreamGroups.ByConsumer, first, Claims.Most, ref noted);
            LookAtPending(ref edit, group, StreamIds.Noted(noted));
        }
        finally
        {
            noted.Free(); // common.Q1
        }
    }

    /// <summary>All that is pending for a group.</summary>
    public static void LookAtGroup(ref RecordEdit edit, int group)
    {
        if (!edit.MayLack)
            return;
        do
        {
            edit.BeginForesight();
            StreamGroups.TryForeseeAll(ref edit, group);
        }
        while (edit.AwaitForeseen());
    }

    /// <summary>Notes the ids that stand in a map under one owner from a key on, so many at most; the pages of the map are fetched side by side.</summary>
    public static void Note(ref RecordEdit edit, in OrderedMap<PendingKey> map, in PendingKey first, long most, ref ByteQueue to)
    {
        do
        {
            edit.BeginForesight();
            map.TryForesee(ref edit, first, first with { Id = StreamId.Max }, most);
        }
        while (edit.AwaitForeseen());
        MapPlace place = map.Seek(ref edit, first);
        for (; most > 0 && map.TryRead(ref edit, ref place, out PendingKey key, out _) && key.Owner == first.Owner; most--, place.Index++)
            Claims.Note(ref to, key.Id);
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
    private static void LookAtAllPending(ref RecordEdit edit, int group, in StreamIds ids, PendingState? becomes)
    {
        LookByGroup(ref edit, group, ids);
        do
        {
            edit.BeginForesight();
            for (int i = 0; i < ids.Count && TryForeseeChange(ref edit, group, ids[i], becomes); i++)
            {
            }
        }
        while (edit.AwaitForeseen());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookByGroup(ref RecordEdit edit, int group, in StreamIds ids)
    {
        do
        {
            edit.BeginForesight();
            for (int i = 0; i < ids.Count && StreamGroups.TryForesee(ref edit, group, ids[i]); i++)
            {
            }
        }
        while (edit.AwaitForeseen());
    }

    private static bool TryForeseeChange(ref RecordEdit edit, int group, StreamId id, in PendingState? becomes) =>
        StreamGroups.TryForeseeOwned(ref edit, group, id)
        && (becomes is not { } state || StreamGroups.TryForeseePut(ref edit, group, id, state));
}
