using System.Buffers.Binary;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Rdb.Streams;

/// <summary>
/// Writes a stream as Redis from 7.0 on reads it: entries in listpacks, each led by the id that its entries are relative to and the
/// names most of them have; then what the stream knows beside its entries, then groups with what is pending. Redis before 8.8 knows
/// nothing that is pending for nobody: what was released is written as a consumer's without a name, delivered at 0, so that there, too,
/// whoever claims gets it at once. Read so it is released again, in the order of ids.
/// </summary>
internal unsafe struct StreamEncoder
{
    // As a page is in Redis by default, so that trimming there goes in steps of the same size.
    private const int NodeBytesMax = 4096, NodeEntriesMax = 100;
    private const int SameNames = 2, IdBytes = 16;

    /// <summary>Also says when consumers last got something, which Redis reads from 7.2 on.</summary>
    internal bool TellsActive;

    private ListPackWriter _entries;
    private StreamPage _page;
    private StreamId _first;
    private int _count;
    private long _nodes;

    /// <summary>Writes all behind the type.</summary>
    internal void Write(ref RecordEdit record, ref RdbWriter to)
    {
        WriteNodes(ref record, ref to, onlyCounts: true);
        to.Length((ulong)_nodes);
        WriteNodes(ref record, ref to, onlyCounts: false);
        StreamHeader header = *StreamForm.Header(ref record);
        to.Length((ulong)header.Length);
        WritePair(header.Last, ref to);
        WritePair(header.First, ref to);
        WritePair(header.MaxDeleted, ref to);
        to.Length((ulong)header.Added);
        NameTable groups = StreamGroups.Groups(ref record);
        to.Length((ulong)groups.Count);
        for (int i = 0; i < groups.Count; i++)
            WriteGroup(ref record, groups, groups.SlotAt(i), ref to);
    }

    // A listpack is at most a page of ours, so that all its entries have the same common names.
    private void WriteNodes(ref RecordEdit record, ref RdbWriter to, bool onlyCounts)
    {
        _nodes = 0;
        StreamWalk walk = StreamWalk.Between(ref record, StreamId.Min, StreamId.Max);
        while (walk.Next(ref record))
        {
            if (walk.Page.At != _page.At || _count == NodeEntriesMax || _entries.Bytes >= NodeBytesMax)
                EndNode(ref to, onlyCounts);
            if (_count++ == 0)
                (_page, _first) = (walk.Page, walk.Current.Id);
            AddEntry(walk.Page, walk.Current);
        }

        EndNode(ref to, onlyCounts);
    }

    private void AddEntry(in StreamPage page, in StreamEntry entry)
    {
        byte* room = stackalloc byte[StreamText.RoomBytes];
        _entries.Add(entry.HasOwnNames ? 0 : SameNames);
        _entries.Add((long)(entry.Id.Ms - _first.Ms));
        _entries.Add((long)(entry.Id.Seq - _first.Seq));
        if (entry.HasOwnNames)
            _entries.Add(entry.Fields);
        StreamFields fields = StreamFields.Of(page, entry);
        for (bool isName = true; fields.Next(room, out ReadOnlySpan<byte> text); isName = !isName)
        {
            if (!isName || entry.HasOwnNames)
                _entries.Add(text);
        }

        _entries.Add(entry.HasOwnNames ? (entry.Fields * 2L) + 4 : entry.Fields + 3L); // as many as stand before, to go backwards
    }

    private void EndNode(ref RdbWriter to, bool onlyCounts)
    {
        if (_count == 0)
            return;
        _nodes++;
        if (!onlyCounts)
            WriteNode(ref to);
        _entries.Free();
        _count = 0;
    }

    private readonly void WriteNode(ref RdbWriter to)
    {
        var node = default(ListPackWriter);
        node.Add(_count);
        node.Add(0); // deleted ones
        uint names = _page.Fields(out byte* heads);
        node.Add(names);
        byte* name = heads + names;
        for (uint i = 0; i < names; i++)
            node.Add(StreamFields.NextName(ref name));
        node.Add(0);
        node.Add(_entries);
        node.Close();
        to.Length(IdBytes);
        WriteId(_first, ref to);
        to.String(node.Span);
        node.Free();
    }

    private readonly void WriteGroup(ref RecordEdit record, NameTable groups, int group, ref RdbWriter to)
    {
        GroupState state = *(GroupState*)groups.State(group);
        to.String(groups.Name(group));
        WritePair(state.Last, ref to);
        to.Length((ulong)state.Read);
        to.Length((ulong)state.Pending);
        ulong owner = StreamGroups.Owner(group, -1);
        MapPlace place = StreamGroups.ByGroup.Seek(ref record, new PendingKey(owner, StreamId.Min));
        for (; StreamGroups.ByGroup.TryRead(ref record, ref place, out PendingKey key, out byte* value)
            && key.Owner == owner; place.Index++)
        {
            WriteId(key.Id, ref to);
            to.Int64(((PendingState*)value)->DeliveredMs);
            to.Length((ulong)((PendingState*)value)->Deliveries);
        }

        NameTable consumers = StreamGroups.Consumers(ref record, group);
        long released = StreamGroups.Released(ref record, group);
        int unnamed = consumers.Find(default);
        bool isExtra = released > 0 && unnamed < 0;
        to.Length((ulong)consumers.Count + (isExtra ? 1u : 0u));
        if (isExtra)
            WriteReleased(ref record, group, PendingState.Nobody, released, ref to);
        for (int i = 0; i < consumers.Count; i++)
        {
            int slot = consumers.SlotAt(i);
            if (released > 0 && slot == unnamed)
                WriteReleased(ref record, group, slot, released, ref to);
            else
                WriteConsumer(ref record, consumers, group, slot, ref to);
        }
    }

    /// <summary>True for what stands for an entry that was released.</summary>
    internal static bool IsReleased(byte[] consumer, in PendingPiece piece) => consumer.Length == 0 && piece.DeliveredMs == 0;

    // What was released, and what a consumer has whose name is empty indeed.
    private readonly void WriteReleased(ref RecordEdit record, int group, int unnamed, long released, ref RdbWriter to)
    {
        ConsumerState state = unnamed < 0 ? new ConsumerState { ActiveMs = -1 } : StreamGroups.State(ref record, group, unnamed);
        BeginConsumer(default, state, released, ref to);
        ulong owner = StreamGroups.Owner(group, -1);
        MapPlace place = StreamGroups.ByGroup.Seek(ref record, new PendingKey(owner, StreamId.Min));
        for (; StreamGroups.ByGroup.TryRead(ref record, ref place, out PendingKey key, out byte* value)
            && key.Owner == owner; place.Index++)
        {
            int consumer = ((PendingState*)value)->Consumer;
            if (consumer == PendingState.Nobody || consumer == unnamed)
                WriteId(key.Id, ref to);
        }
    }

    private readonly void BeginConsumer(ReadOnlySpan<byte> name, in ConsumerState state, long released, ref RdbWriter to)
    {
        to.String(name);
        to.Int64(state.SeenMs);
        if (TellsActive)
            to.Int64(state.ActiveMs);
        to.Length((ulong)(state.Pending + released));
    }

    private readonly void WriteConsumer(ref RecordEdit record, NameTable consumers, int group, int consumer, ref RdbWriter to)
    {
        ConsumerState state = *(ConsumerState*)consumers.State(consumer);
        BeginConsumer(consumers.Name(consumer), state, released: 0, ref to);
        ulong owner = StreamGroups.Owner(group, consumer);
        MapPlace place = StreamGroups.ByConsumer.Seek(ref record, new PendingKey(owner, StreamId.Min));
        for (; StreamGroups.ByConsumer.TryRead(ref record, ref place, out PendingKey key, out _) && key.Owner == owner; place.Index++)
            WriteId(key.Id, ref to);
    }

    private static void WritePair(StreamId id, ref RdbWriter to)
    {
        to.Length(id.Ms);
        to.Length(id.Seq);
    }

    private static void WriteId(StreamId id, ref RdbWriter to)
    {
        Span<byte> bytes = stackalloc byte[IdBytes];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, id.Ms);
        BinaryPrimitives.WriteUInt64BigEndian(bytes[8..], id.Seq);
        to.Bytes.Append(bytes);
        to.Relieve();
    }
}
