using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>Whether a stream and a group of it are there, and what the group has not read.</summary>
internal unsafe struct GroupLook : IExamine
{
    internal Operands Name;
    /// <summary>What others have left alone so long counts too.</summary>
    internal long? ClaimMs;
    internal long NowMs;

    internal bool WrongKind;
    internal bool Found;
    /// <summary>There is an entry behind the group's last one, or one to claim.</summary>
    internal bool HasMore;
    /// <summary>When there may be one to claim, if nothing else happens.</summary>
    internal long NextMs;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        Found = StreamGroups.TryGroup(ref record, Name, out int group);
        if (!Found)
            return;
        StreamId last = StreamGroups.State(ref record, group).Last;
        var state = default(StreamStateLook);
        state.Look(ref record);
        HasMore = state.Length > 0 && state.LastEntry > last;
        NextMs = long.MaxValue;
        if (!HasMore && ClaimMs is { } claimMs)
            HasMore = DueClaims.Any(ref record, group, claimMs, NowMs, out NextMs);
    }
}

/// <summary>Replies how much is pending of a group, and for whom (XPENDING without a range).</summary>
internal unsafe struct PendingSummaryLook : IExamine
{
    internal Operands Name;
    internal RespWriter To;

    internal bool WrongKind;
    internal bool NoGroup;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        NoGroup = !StreamGroups.TryGroup(ref record, Name, out int group);
        if (!NoGroup)
            Write(ref record, group, To);
    }

    private static void Write(ref RecordEdit record, int group, RespWriter to)
    {
        long pending = StreamGroups.State(ref record, group).Pending;
        to.Array(4);
        to.Int(pending);
        if (pending == 0)
        {
            to.Null();
            to.Null();
            to.NullArray();
            return;
        }

        ulong owner = StreamGroups.Owner(group, -1);
        MapPlace place = StreamGroups.ByGroup.Seek(ref record, new PendingKey(owner, StreamId.Min));
        StreamGroups.ByGroup.TryRead(ref record, ref place, out PendingKey first, out _);
        StreamEntry.Reply(first.Id, to);
        StreamGroups.ByGroup.TryLastBefore(ref record, new PendingKey(StreamGroups.Owner(group, 0), StreamId.Min), out PendingKey last);
        StreamEntry.Reply(last.Id, to);
        NameTable consumers = StreamGroups.Consumers(ref record, group);
        int count = 0;
        for (int i = 0; i < consumers.Count; i++)
            count += PendingOf(consumers, i) > 0 ? 1 : 0;
        to.Array(count);
        for (int i = 0; i < consumers.Count; i++)
        {
            if (PendingOf(consumers, i) == 0)
                continue;
            to.Array(2);
            to.Bulk(consumers.Name(consumers.SlotAt(i)));
            to.BulkInt(PendingOf(consumers, i));
        }
    }

    private static long PendingOf(NameTable consumers, int index) => ((ConsumerState*)consumers.State(consumers.SlotAt(index)))->Pending;
}

/// <summary>Replies what is pending of a group between two ids, for all or one consumer (XPENDING with a range).</summary>
internal unsafe struct PendingRangeLook : IExamine
{
    /// <summary>The group's name, and the consumer's if only that one is meant.</summary>
    internal Operands Names;
    internal StreamId From;
    internal StreamId UpTo;
    internal long Count;
    internal long MinIdleMs;
    internal long NowMs;
    internal RespWriter To;

    internal bool WrongKind;
    internal bool NoGroup;

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
        for (; found < Math.Min(max, Count) && map.TryRead(ref record, ref place, out PendingKey key, out _) && key.Owner == owner && key.Id <= UpTo; place.Index++)
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
