using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Groups of consumers of a stream, in chunks of the second set: 3 the table of groups, 4n the consumers of the group in slot n; what is
/// pending in three maps: by (group, id), by (group, consumer, id) and by (group, time, id), with directories 7, 11 and 27 and pages
/// 4n+1, 4n+2 and 39 and every twelfth behind. Who claims what others left alone asks the third one, and pays for what it gets.
/// streams.G1: the maps hold the same entries; their number is the group's, and the sum of its consumers' and of those that were released.
/// </summary>
public static unsafe class StreamGroups
{
    public const uint Table = RootLimit.SecondSet | 3;
    private const uint Step = 4, TimePageStep = 12, DirectoriesMax = 27;

    /// <summary>By group and id: who has an entry, since when.</summary>
    public static readonly OrderedMap<PendingKey> ByGroup = new(RootLimit.SecondSet | 7, RootLimit.SecondSet | 1, Step, PendingState.Bytes);

    /// <summary>By group, consumer and id: nothing but that. What was released stands under the consumer that nobody is.</summary>
    public static readonly OrderedMap<PendingKey> ByConsumer = new(RootLimit.SecondSet | 11, RootLimit.SecondSet | 2, Step, 0);

    /// <summary>By group and time. Beyond the limit of memory, so that a time can always be changed.</summary>
    public static readonly OrderedMap<DueKey> ByTime =
        new(RootLimit.SecondSet | 27, RootLimit.SecondSet | 39, TimePageStep, 0, force: true);

    public static NameTable Groups(ref RecordEdit edit) =>
        StreamForm.Header(ref edit)->Groups == 0 ? default : NameTable.Of(ref edit, Table);

    public static NameTable Consumers(ref RecordEdit edit, int group) => NameTable.Of(ref edit, ConsumersOf(group));

    /// <summary>The slot of a group, -1 if it is not there.</summary>
    public static int Find(ref RecordEdit edit, ReadOnlySpan<byte> name) => Groups(ref edit).Find(name);

    /// <summary>The slot of the group that the first of the names is; false if record or group are not there.</summary>
    public static bool TryGroup(ref RecordEdit edit, in Operands names, out int group)
    {
        Operands.Reader reader = names.Read();
        reader.Next();
        group = edit.Exists && edit.Kind == RecordKind.Stream ? Find(ref edit, reader.Span) : -1;
        return group >= 0;
    }

    /// <summary>The second of the names: a consumer's.</summary>
    public static ReadOnlySpan<byte> ConsumerOf(Operands names)
    {
        Operands.Reader reader = names.Read();
        reader.Next();
        reader.Next();
        return reader.Span;
    }

    public static GroupState State(ref RecordEdit edit, int group) => *(GroupState*)Groups(ref edit).State(group);

    public static ConsumerState State(ref RecordEdit edit, int group, int consumer) =>
        *(ConsumerState*)Consumers(ref edit, group).State(consumer);

    /// <summary>The group's state to be changed.</summary>
    public static GroupState* Open(ref RecordEdit edit, int group) => (GroupState*)NameTable.Open(ref edit, Table).State(group);

    /// <summary>The consumer's state to be changed.</summary>
    public static ConsumerState* Open(ref RecordEdit edit, int group, int consumer) =>
        (ConsumerState*)NameTable.Open(ref edit, ConsumersOf(group)).State(consumer);

    /// <summary>Makes a group that is not there.</summary>
    public static bool TryCreate(ref RecordEdit edit, ReadOnlySpan<byte> name, StreamId last, long read)
    {
        if (StreamForm.Header(ref edit)->Groups == 0)
            edit.RemoveChunk(Table); // the same
        int slot = NameTable.Add(ref edit, Table, GroupState.Bytes, name);
        if (slot < 0)
            return false;
        edit.RemoveChunk(ConsumersOf(slot)); // what nobody named is not believed
        edit.RaiseLimit(LimitFor(slot) - 1);
        *Open(ref edit, slot) = new GroupState { Last = last, Read = read };
        StreamForm.Open(ref edit)->Groups++;
        edit.Close();
        return true;
    }

    /// <summary>Removes a group and all it knows.</summary>
    public static void Destroy(ref RecordEdit edit, int group)
    {
        ByGroup.RemoveRange(ref edit, FirstOf(group), LastOf(group));
        ByConsumer.RemoveRange(ref edit, FirstOwned(group), LastOwned(group));
        ByTime.RemoveRange(ref edit, FirstDue(group), LastDue(group));
        edit.RemoveChunk(ConsumersOf(group));
        NameTable.Open(ref edit, Table).Remove(group);
        StreamHeader* root = StreamForm.Open(ref edit);
        int left = --root->Groups;
        edit.Close();
        if (left == 0)
            edit.RemoveChunk(Table);
    }

    /// <summary>The slot of a consumer, made if it is not there; -1 if there is no memory.</summary>
    public static int FindOrAdd(ref RecordEdit edit, int group, ReadOnlySpan<byte> name, long nowMs, out bool isNew)
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
    public static void RemoveConsumer(ref RecordEdit edit, int group, int consumer)
    {
        long pending = State(ref edit, group, consumer).Pending;
        var first = new PendingKey(Owner(group, consumer), StreamId.Min);
        MapPlace place = ByConsumer.Seek(ref edit, first);
        for (; ByConsumer.TryRead(ref edit, ref place, out PendingKey key, out _) && key.Owner == first.Owner; place.Index++)
        {
            ByTime.TryRemove(ref edit, new DueKey(group, Pending(ref edit, group, key.Id)->When, key.Id));
            ByGroup.TryRemove(ref edit, new PendingKey(Owner(group, -1), key.Id));
        }

        ByConsumer.RemoveRange(ref edit, first, first with { Id = StreamId.Max });
        Open(ref edit, group)->Pending -= pending;
        NameTable.Open(ref edit, ConsumersOf(group)).Remove(consumer);
    }

    /// <summary>What is pending under an id, to look at; null if nothing is.</summary>
    public static PendingState* Pending(ref RecordEdit edit, int group, StreamId id) =>
        (PendingState*)ByGroup.Find(ref edit, new PendingKey(Owner(group, -1), id));

    /// <summary>A step will ask what is pending under the id. False if no more may be told of now.</summary>
    public static bool TryForesee(ref RecordEdit edit, int group, StreamId id) =>
        ByGroup.TryForesee(ref edit, new PendingKey(Owner(group, -1), id));

    /// <summary>A step will come to what is known of the id beside that, if it is pending. False if no more may be told of now.</summary>
    public static bool TryForeseeOwned(ref RecordEdit edit, int group, StreamId id)
    {
        PendingState* found = Pending(ref edit, group, id);
        if (found == null)
            return true;
        PendingState state = *found;
        return ByConsumer.TryForesee(ref edit, new PendingKey(Owner(group, state.Consumer), id))
            && ByTime.TryForesee(ref edit, new DueKey(group, state.When, id));
    }

    /// <summary>A step will make an entry pending as is said. False if no more may be told of now.</summary>
    public static bool TryForeseePut(ref RecordEdit edit, int group, StreamId id, in PendingState state) =>
        (state.IsReleased || ByConsumer.TryForesee(ref edit, new PendingKey(Owner(group, state.Consumer), id)))
        && ByTime.TryForesee(ref edit, new DueKey(group, state.When, id));

    /// <summary>A step will come to all that is pending for a group. False if no more may be told of now.</summary>
    public static bool TryForeseeAll(ref RecordEdit edit, int group) =>
        ByGroup.TryForesee(ref edit, FirstOf(group), LastOf(group), long.MaxValue)
        && ByConsumer.TryForesee(ref edit, FirstOwned(group), LastOwned(group), long.MaxValue)
        && ByTime.TryForesee(ref edit, FirstDue(group), LastDue(group), long.MaxValue);

    /// <summary>Makes an entry pending as is said, whatever was known of it; false if there is no memory, and nothing has changed.</summary>
    public static bool TryPut(ref RecordEdit edit, int group, StreamId id, in PendingState state)
    {
        PendingState* found = Pending(ref edit, group, id);
        if (found == null)
            return TryAdd(ref edit, group, id, state);
        PendingState before = *found;
        if (before.When != state.When && ByTime.TryAdd(ref edit, new DueKey(group, state.When, id)) == null)
            return false;
        if (before.Consumer != state.Consumer && !TryMove(ref edit, group, id, before.Consumer, state.Consumer))
        {
            if (before.When != state.When)
                ByTime.TryRemove(ref edit, new DueKey(group, state.When, id));
            return Fail(ref edit);
        }

        if (before.When != state.When)
            ByTime.TryRemove(ref edit, new DueKey(group, before.When, id));
        *(PendingState*)ByGroup.Open(ref edit, new PendingKey(Owner(group, -1), id)) = state;
        return true;
    }

    /// <summary>Takes a pending entry from whoever has it, or makes it pending for nobody; false if there is no memory.</summary>
    public static bool TryRelease(ref RecordEdit edit, int group, StreamId id, long deliveries)
    {
        bool isFirst = !ByTime.TryLastBefore(ref edit, new DueKey(group, 0, StreamId.Min), out DueKey last) || last.Group != group;
        return TryPut(ref edit, group, id,
            new PendingState { When = isFirst ? long.MinValue : last.When + 1, Deliveries = deliveries, Consumer = PendingState.Nobody });
    }

    /// <summary>How many entries of a group were released.</summary>
    public static long Released(ref RecordEdit edit, int group)
    {
        long released = State(ref edit, group).Pending;
        NameTable consumers = Consumers(ref edit, group);
        for (int i = 0; i < consumers.Count; i++)
            released -= ((ConsumerState*)consumers.State(consumers.SlotAt(i)))->Pending;
        return released;
    }

    /// <summary>Ends that an entry is pending; false if it is not.</summary>
    public static bool TryAcknowledge(ref RecordEdit edit, int group, StreamId id)
    {
        PendingState* found = Pending(ref edit, group, id);
        if (found == null)
            return false;
        PendingState state = *found;
        ByConsumer.TryRemove(ref edit, new PendingKey(Owner(group, state.Consumer), id));
        ByTime.TryRemove(ref edit, new DueKey(group, state.When, id));
        ByGroup.TryRemove(ref edit, new PendingKey(Owner(group, -1), id));
        Open(ref edit, group)->Pending--;
        Count(ref edit, group, state.Consumer, -1);
        return true;
    }

    private static bool TryAdd(ref RecordEdit edit, int group, StreamId id, in PendingState state)
    {
        var owned = new PendingKey(Owner(group, state.Consumer), id);
        var timed = new DueKey(group, state.When, id);
        if (ByConsumer.TryAdd(ref edit, owned) == null)
            return false;
        byte* added = ByTime.TryAdd(ref edit, timed) == null ? null : ByGroup.TryAdd(ref edit, new PendingKey(Owner(group, -1), id));
        if (added == null)
        {
            ByTime.TryRemove(ref edit, timed);
            ByConsumer.TryRemove(ref edit, owned);
            return Fail(ref edit);
        }

        *(PendingState*)added = state;
        Open(ref edit, group)->Pending++;
        Count(ref edit, group, state.Consumer, 1);
        return true;
    }

    private static bool TryMove(ref RecordEdit edit, int group, StreamId id, int from, int to)
    {
        if (ByConsumer.TryAdd(ref edit, new PendingKey(Owner(group, to), id)) == null)
            return false;
        ByConsumer.TryRemove(ref edit, new PendingKey(Owner(group, from), id));
        Count(ref edit, group, from, -1);
        Count(ref edit, group, to, 1);
        return true;
    }

    private static void Count(ref RecordEdit edit, int group, int consumer, int more)
    {
        if (consumer != PendingState.Nobody)
            Open(ref edit, group, consumer)->Pending += more;
    }

    private static PendingKey FirstOf(int group) => new(Owner(group, -1), StreamId.Min);

    private static PendingKey LastOf(int group) => new(Owner(group, -1), StreamId.Max);

    private static PendingKey FirstOwned(int group) => new(Owner(group, PendingState.Nobody), StreamId.Min);

    private static PendingKey LastOwned(int group) => new(Owner(group + 1, PendingState.Nobody) - 1, StreamId.Max);

    private static DueKey FirstDue(int group) => new(group, long.MinValue, StreamId.Min);

    private static DueKey LastDue(int group) => new(group, long.MaxValue, StreamId.Max);

    private static bool Fail(ref RecordEdit edit)
    {
        edit.OutOfMemory = true; // which is why; removing may have set it back
        return false;
    }

    /// <summary>What the numbers of the chunks of a group stay below, those of pages apart.</summary>
    public static uint LimitFor(int group) => Math.Max(DirectoriesMax, ConsumersOf(group) & ~RootLimit.SecondSet) + 1;

    /// <summary>Whose keys those of a group, or of a consumer of it, are.</summary>
    public static ulong Owner(int group, int consumer) => ((ulong)(uint)group << 32) | (uint)(consumer + 1);

    public static uint ConsumersOf(int group) => RootLimit.SecondSet | ((uint)group * Step);
}
