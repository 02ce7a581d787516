using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Entries that a reader takes from whoever has left them alone too long (XREADGROUP CLAIM): those that were released first, then the
/// longest left alone. What is not due is not looked at: the group has what is pending in that order. A field of <see cref="GroupRead"/>;
/// logged with how many were tried.
/// </summary>
public unsafe struct DueClaims
{
    private ByteQueue _claimed;

    public bool IsOn;
    public long MinIdleMs;
    /// <summary>Entries to try; afterwards those that were: claimed, or no more there.</summary>
    public long Tries;

    /// <summary>Entries that were claimed.</summary>
    public readonly long Count => _claimed.Count / ClaimedEntry.Bytes;

    public static DueClaims Of(long? minIdleMs) =>
        minIdleMs is { } ms ? new DueClaims { IsOn = true, MinIdleMs = ms, Tries = long.MaxValue } : default;

    /// <summary>Looks whether there is something to claim; if not, when there may be.</summary>
    public static bool Any(ref RecordEdit record, int group, long minIdleMs, long nowMs, out long nextMs)
    {
        nextMs = long.MaxValue;
        MapPlace place = First(ref record, group);
        for (; StreamGroups.ByTime.TryRead(ref record, ref place, out DueKey key, out _) && key.Group == group; place.Index++)
        {
            if (!IsDue(key, minIdleMs, nowMs))
            {
                nextMs = minIdleMs > long.MaxValue - key.When ? long.MaxValue : key.When + minIdleMs;
                return false;
            }

            if (StreamForm.TryFind(ref record, key.Id, out _, out _))
                return true;
        }

        return false;
    }

    /// <summary>Before the command changes anything: has what the claims come to fetched side by side, if it lies on a tier.</summary>
    public readonly void LookAhead(ref RecordEdit edit, in ClaimTarget target, long most, long nowMs)
    {
        ByteQueue due = default;
        try
        {
            NoteAll(ref edit, target.Group, Math.Min(most, Claims.Most), nowMs, ref due);
            IdsAhead.LookAtEntries(ref edit, StreamIds.Noted(due));
            due.Free();
            Note(ref edit, target.Group, most, nowMs, ref due);
            var becomes = new PendingState { When = nowMs, Consumer = target.Consumer };
            IdsAhead.LookAtPending(ref edit, target.Group, StreamIds.Noted(due), becomes);
        }
        finally
        {
            due.Free(); // common.Q1
        }
    }

    /// <summary>Claims so many at most.</summary>
    public void Run(ref RecordEdit edit, in ClaimTarget target, long most, long nowMs)
    {
        ByteQueue due = default;
        try
        {
            Note(ref edit, target.Group, most, nowMs, ref due);
            Claim(ref edit, target, StreamIds.Noted(due), nowMs);
        }
        finally
        {
            due.Free(); // common.Q1
        }
    }

    private void Claim(ref RecordEdit edit, in ClaimTarget target, in StreamIds ids, long nowMs)
    {
        var terms = new ClaimTerms { NowMs = nowMs, DeliveredMs = nowMs, Deliveries = -1 };
        for (Tries = 0; Tries < ids.Count; Tries++)
        {
            StreamId id = ids[(int)Tries];
            PendingState before = *StreamGroups.Pending(ref edit, target.Group, id);
            ClaimResult result = Claims.Try(ref edit, target, id, terms);
            if (result == ClaimResult.NoMemory)
                break;
            if (result != ClaimResult.Claimed)
                continue;
            var claimed = new ClaimedEntry(id, before.IdleMs(nowMs), before.Deliveries);
            _claimed.Append(MemoryMarshal.AsBytes(new ReadOnlySpan<ClaimedEntry>(in claimed)));
        }
    }

    /// <summary>Replies what was claimed; the array has been begun.</summary>
    public readonly void Reply(ref RecordEdit edit, RespWriter to)
    {
        var claimed = (ClaimedEntry*)_claimed.Head;
        for (long i = 0; i < Count; i++)
        {
            StreamForm.TryFind(ref edit, claimed[i].Id, out StreamPage page, out StreamEntry entry);
            Reply(entry, page, claimed[i].IdleMs, claimed[i].Deliveries, to);
        }
    }

    /// <summary>Writes one claimed entry as XREADGROUP with CLAIM replies it: with the time since it was delivered before, and how often it was.</summary>
    public static void Reply(in StreamEntry entry, in StreamPage page, long idleMs, long deliveries, RespWriter to)
    {
        to.Array(4);
        entry.ReplyParts(page, to);
        to.Int(idleMs);
        to.Int(deliveries);
    }

    public void Free() => _claimed.Free();

    // Taken before the first is claimed: what is claimed is due again at once if there is no time to wait for.
    private readonly void Note(ref RecordEdit edit, int group, long most, long nowMs, ref ByteQueue due)
    {
        MapPlace place = First(ref edit, group);
        long there = 0;
        for (long tries = 0; tries < Math.Min(Tries, Claims.Most) && there < most; tries++, place.Index++)
        {
            if (!StreamGroups.ByTime.TryRead(ref edit, ref place, out DueKey key, out _) || key.Group != group
                || !IsDue(key, MinIdleMs, nowMs))
                break;
            Claims.Note(ref due, key.Id);
            there += StreamForm.TryFind(ref edit, key.Id, out _, out _) ? 1 : 0;
        }
    }

    // The first so many, whether they are there or not.
    private readonly void NoteAll(ref RecordEdit edit, int group, long most, long nowMs, ref ByteQueue due)
    {
        var last = new DueKey(group, MinIdleMs == 0 ? long.MaxValue : Math.Max(nowMs - MinIdleMs, -1), StreamId.Max);
        do
        {
            edit.BeginForesight();
            StreamGroups.ByTime.TryForesee(ref edit, new DueKey(group, long.MinValue, StreamId.Min), last, most);
        }
        while (edit.AwaitForeseen());
        MapPlace place = First(ref edit, group);
        for (; most > 0 && StreamGroups.ByTime.TryRead(ref edit, ref place, out DueKey key, out _) && key <= last; most--, place.Index++)
            Claims.Note(ref due, key.Id);
    }

    private static MapPlace First(ref RecordEdit record, int group) =>
        StreamGroups.ByTime.Seek(ref record, new DueKey(group, long.MinValue, StreamId.Min));

    private static bool IsDue(in DueKey key, long minIdleMs, long nowMs) => key.When < 0 || minIdleMs == 0 || nowMs - key.When >= minIdleMs;
}
