using Garnet.Common.Faults;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>
/// Groups of consumers of a stream, in chunks of the second set: 3 the table of groups, 4n the consumers of the group in slot n; what is
/// pending in two maps by (group, id) and (group, consumer, id), with directories 7 and 11 and pages 4n+1 and 4n+2.
/// G1: the maps hold the same entries; their number is the group's and its consumers' sum.
/// </summary>
internal static unsafe class StreamGroups
{
    private const uint Table = RecordEdit.SecondSet | 3, Step = 4;

    /// <summary>By group and id: who has an entry, since when.</summary>
    internal static readonly OrderedMap<PendingKey> ByGroup = new(RecordEdit.SecondSet | 7, RecordEdit.SecondSet | 1, Step, PendingState.Bytes);

    /// <summary>By group, consumer and id: nothing but that.</summary>
    internal static readonly OrderedMap<PendingKey> ByConsumer = new(RecordEdit.SecondSet | 11, RecordEdit.SecondSet | 2, Step, 0);

    internal static NameTable Groups(ref RecordEdit edit) => StreamForm.Header(ref edit)->Groups == 0 ? default : NameTable.Of(ref edit, Table);

    internal static NameTable Consumers(ref RecordEdit edit, int group) => NameTable.Of(ref edit, ConsumersOf(group));

    /// <summary>The slot of a group, -1 if it is not there.</summary>
    internal static int Find(ref RecordEdit edit, ReadOnlySpan<byte> name) => Groups(ref edit).Find(name);

    /// <summary>The slot of the group that the first of the names is; false if record or group are not there.</summary>
    internal static bool TryGroup(ref RecordEdit edit, in Operands names, out int group)
    {
        Operands.Reader reader = names.Read();
        reader.Next();
        group = edit.Exists && edit.Kind == RecordKind.Stream ? Find(ref edit, reader.Span) : -1;
        return group >= 0;
    }

    /// <summary>The second of the names: a consumer's.</summary>
    internal static ReadOnlySpan<byte> ConsumerOf(Operands names)
    {
        Operands.Reader reader = names.Read();
        reader.Next();
        reader.Next();
        return reader.Span;
    }

    internal static GroupState State(ref RecordEdit edit, int group) => *(GroupState*)Groups(ref edit).State(group);

    internal static ConsumerState State(ref RecordEdit edit, int group, int consumer) => *(ConsumerState*)Consumers(ref edit, group).State(consumer);

    /// <summary>The group's state to be changed.</summary>
    internal static GroupState* Open(ref RecordEdit edit, int group) => (GroupState*)NameTable.Open(ref edit, Table).State(group);

    /// <summary>The consumer's state to be changed.</summary>
    internal static ConsumerState* Open(ref RecordEdit edit, int group, int consumer) =>
        (ConsumerState*)NameTable.Open(ref edit, ConsumersOf(group)).State(consumer);

    /// <summary>Makes a group that is not there.</summary>
    internal static bool TryCreate(ref RecordEdit edit, ReadOnlySpan<byte> name, StreamId last, long read)
    {
        int slot = NameTable.Add(ref edit, Table, GroupState.Bytes, name);
        if (slot < 0)
            return false;
        edit.RaiseLimit(Math.Max(11u, ConsumersOf(slot) & ~RecordEdit.SecondSet));
        *Open(ref edit, slot) = new GroupState { Last = last, Read = read };
        StreamForm.Open(ref edit)->Groups++;
        edit.Close();
        return true;
    }

    /// <summary>Removes a group and all it knows.</summary>
    internal static void Destroy(ref RecordEdit edit, int group)
    {
        ByGroup.RemoveRange(ref edit, new PendingKey(Owner(group, -1), StreamId.Min), new PendingKey(Owner(group, -1), StreamId.Max));
        ByConsumer.RemoveRange(ref edit, new PendingKey(Owner(group, 0), StreamId.Min), new PendingKey(Owner(group + 1, -1) - 1, StreamId.Max));
        edit.RemoveChunk(ConsumersOf(group));
        NameTable.Open(ref edit, Table).Remove(group);
        StreamHeader* root = StreamForm.Open(ref edit);
        int left = --root->Groups;
        edit.Close();
        if (left == 0)
            edit.RemoveChunk(Table);
    }

    /// <summary>The slot of a consumer, made if it is not there; -1 if there is no memory.</summary>
    internal static int FindOrAdd(ref RecordEdit edit, int group, ReadOnlySpan<byte> name, long nowMs, out bool isNew)
    {
        int slot = Consumers(ref edit, group).Find(name);
        isNew = slot < 0;
        if (!isNew)
            return slot;
        slot = NameTable.Add(ref edit, ConsumersOf(group), ConsumerState.Bytes, name);
        if (slot >= 0)
            *Open(ref edit, group, slot) = new ConsumerState { SeenMs = nowMs, ActiveMs = -1 };
        return slot;
    }

    /// <summary>Removes a consumer and what is pending for it.</summary>
    internal static void RemoveConsumer(ref RecordEdit edit, int group, int consumer)
    {
        long pending = State(ref edit, group, consumer).Pending;
        var first = new PendingKey(Owner(group, consumer), StreamId.Min);
        MapPlace place = ByConsumer.Seek(ref edit, first);
        for (; ByConsumer.TryRead(ref edit, ref place, out PendingKey key, out _) && key.Owner == first.Owner; place.Index++)
            ByGroup.TryRemove(ref edit, new PendingKey(Owner(group, -1), key.Id));
        ByConsumer.RemoveRange(ref edit, first, first with { Id = StreamId.Max });
        Open(ref edit, group)->Pending -= pending;
        NameTable.Open(ref edit, ConsumersOf(group)).Remove(consumer);
    }

    /// <summary>What is pending under an id, to look at; null if nothing is.</summary>
    internal static PendingState* Pending(ref RecordEdit edit, int group, StreamId id) =>
        (PendingState*)ByGroup.Find(ref edit, new PendingKey(Owner(group, -1), id));

    /// <summary>What is pending under an id, to be changed; it is there.</summary>
    internal static PendingState* OpenPending(ref RecordEdit edit, int group, StreamId id) =>
        (PendingState*)ByGroup.Open(ref edit, new PendingKey(Owner(group, -1), id));

    /// <summary>Makes an entry pending for a consumer, whoever had it; false if there is no memory, and nothing has changed.</summary>
    internal static bool TryDeliver(ref RecordEdit edit, int group, int consumer, StreamId id, in PendingState state)
    {
        var key = new PendingKey(Owner(group, -1), id);
        byte* found = ByGroup.Find(ref edit, key);
        if (found != null)
        {
            if (!TryAssign(ref edit, group, consumer, id))
                return false;
            *(PendingState*)ByGroup.Open(ref edit, key) = state with { Consumer = consumer };
            return true;
        }

        if (ByConsumer.TryAdd(ref edit, new PendingKey(Owner(group, consumer), id)) == null)
            return false;
        byte* added = ByGroup.TryAdd(ref edit, key);
        if (added == null)
        {
            ByConsumer.TryRemove(ref edit, new PendingKey(Owner(group, consumer), id));
            return false;
        }

        *(PendingState*)added = state with { Consumer = consumer };
        Open(ref edit, group)->Pending++;
        Open(ref edit, group, consumer)->Pending++;
        return true;
    }

    /// <summary>Gives a pending entry to another consumer; false if there is no memory.</summary>
    internal static bool TryAssign(ref RecordEdit edit, int group, int consumer, StreamId id)
    {
        int before = Pending(ref edit, group, id)->Consumer;
        if (before == consumer)
            return true;
        if (ByConsumer.TryAdd(ref edit, new PendingKey(Owner(group, consumer), id)) == null)
            return false;
        ByConsumer.TryRemove(ref edit, new PendingKey(Owner(group, before), id));
        OpenPending(ref edit, group, id)->Consumer = consumer;
        Open(ref edit, group, before)->Pending--;
        Open(ref edit, group, consumer)->Pending++;
        return true;
    }

    /// <summary>Ends that an entry is pending; false if it is not.</summary>
    internal static bool TryAcknowledge(ref RecordEdit edit, int group, StreamId id)
    {
        PendingState* state = Pending(ref edit, group, id);
        if (state == null)
            return false;
        int consumer = state->Consumer;
        ByConsumer.TryRemove(ref edit, new PendingKey(Owner(group, consumer), id));
        ByGroup.TryRemove(ref edit, new PendingKey(Owner(group, -1), id));
        Open(ref edit, group)->Pending--;
        Open(ref edit, group, consumer)->Pending--;
        return true;
    }

    /// <summary>Whose keys those of a group, or of a consumer of it, are.</summary>
    internal static ulong Owner(int group, int consumer) => ((ulong)(uint)group << 32) | (uint)(consumer + 1);

    private static uint ConsumersOf(int group) => RecordEdit.SecondSet | ((uint)group * Step);
}
