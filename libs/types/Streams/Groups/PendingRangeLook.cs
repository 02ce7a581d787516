using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Replies what is pending of a group between two ids, for all or one consumer (XPENDING with a range).</summary>
public unsafe struct PendingRangeLook : IExamine
{
    /// <summary>The group's name, and the consumer's if only that one is meant.</summary>
    public Operands Names;
    public StreamId From;
    public StreamId UpTo;
    public long Count;
    public long MinIdleMs;
    public long NowMs;
    public RespWriter To;

    public bool WrongKind;
    public bool NoGroup;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        NoGroup = !StreamGroups.TryGroup(ref record, Names, out int group);
        int consumer = -1;
        if (NoGroup)
            return;
        if (Names.Count > 1 && (consumer = StreamGroups.Consumers(ref record, group).Find(StreamGroups.ConsumerOf(Names))) < 0)
        {
            To.Array(0);
            return;
        }

        // Once to count, once to reply.
        long found = Walk(ref record, group, consumer, long.MaxValue, null);
        To.Array((int)found);
        Walk(ref record, group, consumer, found, To);
    }

    private readonly long Walk(ref RecordEdit record, int group, int consumer, long max, RespWriter? to)
    {
        OrderedMap<PendingKey> map = consumer < 0 ? StreamGroups.ByGroup : StreamGroups.ByConsumer;
        ulong owner = StreamGroups.Owner(group, consumer);
        MapPlace place = map.Seek(ref record, new PendingKey(owner, From));
        long found = 0;
        for (; found < Math.Min(max, Count) && map.TryRead(ref record, ref place, out PendingKey key, out _) && key.Owner == owner
            && key.Id <= UpTo; place.Index++)
        {
            PendingState state = *StreamGroups.Pending(ref record, group, key.Id);
            if (!state.IsDue(MinIdleMs, NowMs))
                continue;
            found++;
            if (to != null)
                Write(ref record, group, key.Id, state, to);
        }

        return found;
    }

    private readonly void Write(ref RecordEdit record, int group, StreamId id, in PendingState state, RespWriter to)
    {
        to.Array(4);
        StreamEntry.Reply(id, to);
        to.Bulk(state.IsReleased ? default : StreamGroups.Consumers(ref record, group).Name(state.Consumer));
        to.Int(state.IdleMs(NowMs));
        to.Int(state.Deliveries);
    }
}
