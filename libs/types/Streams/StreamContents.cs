using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>All that a stream means, item by item and not as it is kept: for digests and tests.</summary>
public unsafe struct StreamContents
{
    private bool _begun;
    private StreamWalk _walk;
    private bool _pastEntries;
    private int _group;
    private bool _inGroup;
    private MapPlace _place;
    private bool _inProducers;

    /// <summary>Writes the next item; false at the end.</summary>
    public bool Next(ref RecordEdit record, RespWriter to)
    {
        if (!_begun)
        {
            _begun = true;
            _walk = StreamWalk.Between(ref record, StreamId.Min, StreamId.Max);
            WriteHeader(StreamForm.Header(ref record), to);
            return true;
        }

        if (!_pastEntries && _walk.Next(ref record))
        {
            _walk.Current.Reply(_walk.Page, to);
            return true;
        }

        _pastEntries = true;
        return NextOfGroups(ref record, to) || NextOfProducers(ref record, to);
    }

    private bool NextOfProducers(ref RecordEdit record, RespWriter to)
    {
        if (!StreamProducers.TryState(ref record, out ProducersState state))
            return false;
        if (!_inProducers)
        {
            _inProducers = true;
            _place = default;
            to.Bulk(MemoryMarshal.AsBytes(new ReadOnlySpan<ProducersState>(in state)));
            return true;
        }

        if (!StreamProducers.ByName.TryRead(ref record, ref _place, out PendingKey key, out byte* value))
            return false;
        _place.Index++;
        to.Array(3);
        to.Bulk(MemoryMarshal.AsBytes(new ReadOnlySpan<PendingKey>(in key)));
        StreamEntry.Reply(((ProducedEntry*)value)->Id, to);
        to.Int(((ProducedEntry*)value)->AddedMs);
        return true;
    }

    // When a consumer was last heard of is not told: it may change without being logged.
    private bool NextOfGroups(ref RecordEdit record, RespWriter to)
    {
        NameTable groups = StreamGroups.Groups(ref record);
        while (_group < groups.Count)
        {
            int slot = groups.SlotAt(_group);
            ulong owner = StreamGroups.Owner(slot, -1);
            if (!_inGroup)
            {
                _inGroup = true;
                _place = StreamGroups.ByGroup.Seek(ref record, new PendingKey(owner, StreamId.Min));
                WriteGroup(ref record, groups, slot, to);
                return true;
            }

            if (StreamGroups.ByGroup.TryRead(ref record, ref _place, out PendingKey key, out byte* value) && key.Owner == owner)
            {
                _place.Index++;
                WritePending(StreamGroups.Consumers(ref record, slot), key.Id, *(PendingState*)value, to);
                return true;
            }

            _group++;
            _inGroup = false;
        }

        return false;
    }

    private static void WriteGroup(ref RecordEdit record, NameTable groups, int slot, RespWriter to)
    {
        var state = *(GroupState*)groups.State(slot);
        NameTable consumers = StreamGroups.Consumers(ref record, slot);
        to.Array(4 + consumers.Count);
        to.Bulk(groups.Name(slot));
        StreamEntry.Reply(state.Last, to);
        to.Int(state.Read);
        to.Int(state.Pending);
        for (int i = 0; i < consumers.Count; i++)
        {
            to.Array(2);
            to.Bulk(consumers.Name(consumers.SlotAt(i)));
            to.Int(((ConsumerState*)consumers.State(consumers.SlotAt(i)))->Pending);
        }
    }

    private static void WritePending(NameTable consumers, StreamId id, in PendingState state, RespWriter to)
    {
        to.Array(4);
        StreamEntry.Reply(id, to);
        to.Bulk(state.IsReleased ? default : consumers.Name(state.Consumer));
        to.Int(state.When);
        to.Int(state.Deliveries);
    }

    private static void WriteHeader(StreamHeader* root, RespWriter to)
    {
        to.Array(5);
        to.Int(root->Length);
        to.Int(root->Added);
        StreamEntry.Reply(root->First, to);
        StreamEntry.Reply(root->Last, to);
        StreamEntry.Reply(root->MaxDeleted, to);
    }
}
