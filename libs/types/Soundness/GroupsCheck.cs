using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>
/// The groups of a stream: their tables, and that the three maps of what is pending hold the same entries, as many as groups and
/// consumers say (streams.G1). What is pending names groups and consumers that are there.
/// </summary>
public static unsafe class GroupsCheck
{
    public static bool AreSound(ref RecordEdit edit, ref uint limit)
    {
        if (!AreTables(ref edit, ref limit, out long pending, out long owned))
            return false;
        var byGroup = default(ByGroup);
        var byConsumer = default(ByConsumer);
        var byTime = default(ByTime);
        return StreamGroups.ByGroup.IsSound(ref edit, ref byGroup, ref limit) && byGroup.IsEnded(ref edit) && byGroup.Entries == pending
            && StreamGroups.ByConsumer.IsSound(ref edit, ref byConsumer, ref limit) && byConsumer.IsEnded(ref edit)
                && byConsumer.Sum == byGroup.Owned
            && StreamGroups.ByTime.IsSound(ref edit, ref byTime, ref limit) && byTime.Sum == byGroup.Timed
            && byConsumer.Owned + byGroup.Released == pending && byConsumer.Owned == owned;
    }

    private static bool AreTables(ref RecordEdit edit, ref uint limit, out long pending, out long owned)
    {
        pending = owned = 0;
        int groups = StreamForm.Header(ref edit)->Groups;
        if (groups == 0)
            return true;
        byte* at = edit.Chunk(StreamGroups.Table, out int bytes);
        if (at == null || !NameTable.IsSound(at, bytes, GroupState.Bytes))
            return false;
        var table = new NameTable(at);
        if (table.Count != groups)
            return false;
        for (int i = 0; i < groups; i++)
        {
            int slot = table.SlotAt(i);
            long here = ((GroupState*)table.State(slot))->Pending;
            if (here < 0 || (pending += here) < 0 || !AreConsumers(ref edit, slot, here, ref owned))
                return false;
            limit = Math.Max(limit, StreamGroups.LimitFor(slot));
        }

        return true;
    }

    private static bool AreConsumers(ref RecordEdit edit, int group, long pending, ref long owned)
    {
        byte* at = edit.Chunk(StreamGroups.ConsumersOf(group), out int bytes);
        if (at == null)
            return true;
        if (!NameTable.IsSound(at, bytes, ConsumerState.Bytes))
            return false;
        var table = new NameTable(at);
        for (int i = 0; i < table.Count; i++)
        {
            long here = ((ConsumerState*)table.State(table.SlotAt(i)))->Pending;
            if (here < 0 || here > pending)
                return false;
            pending -= here;
            owned += here;
        }

        return true;
    }

    private static bool HasConsumer(ref RecordEdit edit, int group, int consumer) => StreamGroups.Consumers(ref edit, group).Has(consumer);

    // Keys of one group follow each other: each time another begins, the one before had as many as it says.
    private struct ByGroup : IMapVisitor<PendingKey>
    {
        private int _group;
        private long _here;

        public long Entries;
        public long Released;
        public ulong Owned;
        public ulong Timed;

        public bool Visit(ref RecordEdit edit, in PendingKey key, byte* value)
        {
            int group = (int)(key.Owner >> 32);
            if ((uint)key.Owner != 0 || !StreamGroups.Groups(ref edit).Has(group) || (group != _group && !IsEnded(ref edit)))
                return false;
            _here = group == _group ? _here + 1 : 1;
            _group = group;
            Entries++;
            var state = *(PendingState*)value;
            Owned += KeyedSum.Of(StreamGroups.Owner(group, state.Consumer), 0, key.Id);
            Timed += KeyedSum.Of((ulong)group, (ulong)state.When, key.Id);
            if (state.Consumer != PendingState.Nobody)
                return HasConsumer(ref edit, group, state.Consumer);
            Released++;
            return true;
        }

        public readonly bool IsEnded(ref RecordEdit edit) => _here == 0 || StreamGroups.State(ref edit, _group).Pending == _here;
    }

    private struct ByConsumer : IMapVisitor<PendingKey>
    {
        private ulong _owner;
        private long _here;

        public long Owned;
        public ulong Sum;

        public bool Visit(ref RecordEdit edit, in PendingKey key, byte* value)
        {
            if (key.Owner != _owner && !IsEnded(ref edit))
                return false;
            bool begins = key.Owner != _owner || _here == 0;
            _here = begins ? 1 : _here + 1;
            _owner = key.Owner;
            Sum += KeyedSum.Of(key.Owner, 0, key.Id);
            (int group, int consumer) = Parts(key.Owner);
            if (consumer == PendingState.Nobody)
                return true;
            if (begins && (!StreamGroups.Groups(ref edit).Has(group) || !HasConsumer(ref edit, group, consumer)))
                return false;
            Owned++;
            return true;
        }

        public readonly bool IsEnded(ref RecordEdit edit)
        {
            (int group, int consumer) = Parts(_owner);
            return _here == 0 || consumer == PendingState.Nobody || StreamGroups.State(ref edit, group, consumer).Pending == _here;
        }

        private static (int Group, int Consumer) Parts(ulong owner) => ((int)(owner >> 32), (int)(uint)owner - 1);
    }

    private struct ByTime : IMapVisitor<DueKey>
    {
        public ulong Sum;

        public bool Visit(ref RecordEdit edit, in DueKey key, byte* value)
        {
            Sum += KeyedSum.Of((ulong)key.Group, (ulong)key.When, key.Id);
            return true;
        }
    }
}
