using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>What XCLAIM and XAUTOCLAIM share.</summary>
public static unsafe class Claims
{
    /// <summary>Entries that one command claims without being told which; the rest is for the next. Bounds what it notes of them.</summary>
    public const long Most = 1 << 24;

    /// <summary>Finds the group and the consumer, which is made if it is not there; false without a group, or without memory, which is replied.</summary>
    public static bool TryBegin(ref RecordEdit edit, in Operands names, long nowMs, RespWriter? to, out ClaimStart start)
    {
        start = default;
        start.Found = StreamGroups.TryGroup(ref edit, names, out int group);
        if (!start.Found)
            return false;
        int consumer = StreamGroups.FindOrAdd(ref edit, group, StreamGroups.ConsumerOf(names), nowMs, out start.IsNewConsumer);
        start.Target = new ClaimTarget(group, consumer);
        if (consumer < 0)
        {
            to?.Error(FaultText.Of(Fault.OutOfMemory));
            return false;
        }

        StreamGroups.Open(ref edit, group, consumer)->SeenMs = nowMs;
        return true;
    }

    /// <summary>How entries will be pending that are claimed; for nobody, if the consumer is not there yet.</summary>
    public static PendingState Becomes(ref RecordEdit edit, int group, in Operands names, in ClaimTerms terms) => new()
    {
        When = terms.DeliveredMs,
        Consumer = StreamGroups.Consumers(ref edit, group).Find(StreamGroups.ConsumerOf(names)),
    };

    public static ClaimResult Try(ref RecordEdit edit, in ClaimTarget target, StreamId id, in ClaimTerms terms)
    {
        PendingState* pending = StreamGroups.Pending(ref edit, target.Group, id);
        if (!StreamForm.TryFind(ref edit, id, out _, out _))
            return StreamGroups.TryAcknowledge(ref edit, target.Group, id) ? ClaimResult.Gone : ClaimResult.Left;
        if (pending == null)
            return terms.Forces ? Put(ref edit, target, id, terms, terms.OnlyIds ? 1 : 2) : ClaimResult.Left;
        if (!pending->IsDue(terms.MinIdleMs, terms.NowMs))
            return ClaimResult.Left;
        return Put(ref edit, target, id, terms, terms.OnlyIds ? pending->Deliveries : pending->DeliveriesAndOne);
    }

    public static void Note(ref ByteQueue to, StreamId id) => to.Append(MemoryMarshal.AsBytes(new ReadOnlySpan<StreamId>(in id)));

    /// <summary>Replies the entries whose ids were noted, or the ids.</summary>
    public static void Reply(ref RecordEdit edit, in ByteQueue noted, bool onlyIds, RespWriter to)
    {
        StreamIds ids = StreamIds.Noted(noted);
        to.Array(ids.Count);
        for (int i = 0; i < ids.Count; i++)
        {
            if (onlyIds)
                StreamEntry.Reply(ids[i], to);
            else if (StreamForm.TryFind(ref edit, ids[i], out StreamPage page, out StreamEntry entry))
                entry.Reply(page, to);
        }
    }

    private static ClaimResult Put(ref RecordEdit edit, in ClaimTarget target, StreamId id, in ClaimTerms terms, long deliveries)
    {
        var state = new PendingState
        {
            When = terms.DeliveredMs,
            Deliveries = terms.Deliveries >= 0 ? terms.Deliveries : deliveries,
            Consumer = target.Consumer,
        };
        if (!StreamGroups.TryPut(ref edit, target.Group, id, state))
            return ClaimResult.NoMemory;
        StreamGroups.Open(ref edit, target.Group, target.Consumer)->ActiveMs = terms.NowMs;
        return ClaimResult.Claimed;
    }
}
