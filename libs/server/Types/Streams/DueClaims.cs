using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Net;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>An entry that was claimed, and what was known of it before.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal readonly record struct ClaimedEntry(StreamId Id, long IdleMs, long Deliveries)
{
    internal static unsafe int Bytes => sizeof(ClaimedEntry);
}

/// <summary>
/// Entries that a reader takes from whoever has left them alone too long (XREADGROUP CLAIM), the longest first. All that is pending of the
/// group is looked at: there is no order by time. A field of <see cref="GroupRead"/>; logged with how many were tried.
/// </summary>
internal unsafe struct DueClaims
{
    private ByteQueue _claimed;

    internal bool IsOn;
    internal long MinIdleMs;
    /// <summary>Entries to try; afterwards those that were: claimed, or no more there.</summary>
    internal long Tries;

    /// <summary>Entries that were claimed.</summary>
    internal readonly long Count => _claimed.Count / ClaimedEntry.Bytes;

    internal static DueClaims Of(long? minIdleMs) => minIdleMs is { } ms ? new DueClaims { IsOn = true, MinIdleMs = ms, Tries = long.MaxValue } : default;

    /// <summary>Looks whether there is something to claim; if not, when there may be.</summary>
    internal static bool Any(ref RecordEdit record, int group, long minIdleMs, long nowMs, out long nextMs)
    {
        nextMs = long.MaxValue;
        MapPlace place = First(ref record, group);
        while (StreamGroups.ByGroup.TryReadPage(ref record, ref place, out byte* entry, out int count))
        {
            for (; count > 0; count--, entry += StreamGroups.ByGroup.EntryBytes)
            {
                var key = *(PendingKey*)entry;
                var state = (PendingState*)(entry + PendingKey.Bytes);
                if (key.Owner != StreamGroups.Owner(group, -1))
                    return false;
                if (!IsDue(*state, minIdleMs, nowMs))
                    nextMs = Math.Min(nextMs, minIdleMs > long.MaxValue - state->DeliveredMs ? long.MaxValue : state->DeliveredMs + minIdleMs);
                else if (StreamForm.TryFind(ref record, key.Id, out _, out _))
                    return true;
            }
        }

        return false;
    }

    /// <summary>Claims so many at most.</summary>
    internal void Run(ref RecordEdit edit, in ClaimTarget target, long most, long nowMs)
    {
        long triesMax = Tries;
        Tries = 0;
        var terms = new ClaimTerms { NowMs = nowMs, DeliveredMs = nowMs, Deliveries = -1 };
        PriorityQueue<StreamId, (long, StreamId)> due = Due(ref edit, target.Group, nowMs);
        while (Count < most && Tries < triesMax && due.TryDequeue(out StreamId id, out _))
        {
            PendingState before = *StreamGroups.Pending(ref edit, target.Group, id);
            ClaimResult result = Claims.Try(ref edit, target, id, terms);
            if (result == ClaimResult.NoMemory)
                return;
            Tries++;
            if (result != ClaimResult.Claimed)
                continue;
            var claimed = new ClaimedEntry(id, Math.Max(nowMs - before.DeliveredMs, 0), before.Deliveries);
            _claimed.Append(MemoryMarshal.AsBytes(new ReadOnlySpan<ClaimedEntry>(in claimed)));
        }
    }

    /// <summary>Replies what was claimed; the array has been begun.</summary>
    internal readonly void Reply(ref RecordEdit edit, RespWriter to)
    {
        var claimed = (ClaimedEntry*)_claimed.Head;
        for (long i = 0; i < Count; i++)
        {
            StreamForm.TryFind(ref edit, claimed[i].Id, out StreamPage page, out StreamEntry entry);
            Reply(entry, page, claimed[i].IdleMs, claimed[i].Deliveries, to);
        }
    }

    /// <summary>Replies an entry in the way of a reader who claims: with the time since it was delivered before, and how often it was.</summary>
    internal static void Reply(in StreamEntry entry, in StreamPage page, long idleMs, long deliveries, RespWriter to)
    {
        to.Array(4);
        entry.ReplyParts(page, to);
        to.Int(idleMs);
        to.Int(deliveries);
    }

    internal void Free() => _claimed.Free();

    private readonly PriorityQueue<StreamId, (long DeliveredMs, StreamId Id)> Due(ref RecordEdit edit, int group, long nowMs)
    {
        List<(StreamId, (long, StreamId))> found = [];
        MapPlace place = First(ref edit, group);
        while (StreamGroups.ByGroup.TryReadPage(ref edit, ref place, out byte* entry, out int count))
        {
            for (; count > 0; count--, entry += StreamGroups.ByGroup.EntryBytes)
            {
                var key = *(PendingKey*)entry;
                var state = (PendingState*)(entry + PendingKey.Bytes);
                if (key.Owner == StreamGroups.Owner(group, -1) && IsDue(*state, MinIdleMs, nowMs))
                    found.Add((key.Id, (state->DeliveredMs, key.Id)));
            }
        }

        return new PriorityQueue<StreamId, (long, StreamId)>(found);
    }

    private static MapPlace First(ref RecordEdit record, int group) =>
        StreamGroups.ByGroup.Seek(ref record, new PendingKey(StreamGroups.Owner(group, -1), StreamId.Min));

    private static bool IsDue(in PendingState state, long minIdleMs, long nowMs) => minIdleMs == 0 || nowMs - state.DeliveredMs >= minIdleMs;
}
