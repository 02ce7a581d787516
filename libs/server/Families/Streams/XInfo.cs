using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

/// <summary>XINFO: what a stream, its groups and their consumers say of themselves.</summary>
internal static class InfoCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(new CommandSpec("XINFO", -2, CommandFlags.None) { Group = "stream",
            Summary = "Tells about streams, groups and consumers.", Since = "5.0.0" });
        table.Add<XInfoStream>();
        table.Add<XInfoGroups>();
        table.Add<XInfoConsumers>();
    }

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary) =>
        GroupCommands.Spec(name, arity, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", syntax, summary) with
        {
            Misses = KeyMisses.AllAtOnce,
        };

    internal static Reply Show<T>(ref Call call, ref T look) where T : struct, IExamine, IKindLook
    {
        KeyRef key = call.KeyAt(2);
        if (call.Session.Examine(in key, ref look) == Outcome.NotFound)
            return call.Fail(Fault.NoSuchKey);
        return look.IsWrongKind ? call.Fail(Fault.WrongType) : Reply.Sent;
    }
}

/// <summary>A look that may find another kind of value.</summary>
internal interface IKindLook
{
    bool IsWrongKind { get; }
}

internal readonly struct XInfoStream : ICommand
{
    private const long EntriesDefault = 10;

    public static CommandSpec Spec => InfoCommands.Spec("XINFO|STREAM", -3, "key [FULL [COUNT count]]", "Tells about a stream.");

    public static Reply Run(ref Call call)
    {
        if (call.Count == 3)
        {
            var look = new StreamInfoLook { To = call.Out };
            return InfoCommands.Show(ref call, ref look);
        }

        var full = new StreamFullLook { To = call.Out, Count = EntriesDefault };
        if (!call.Is(3, "FULL"u8) || call.Count is 5 or > 6 || (call.Count == 6 && !call.Is(4, "COUNT"u8)))
            return call.WrongSubcommandArity();
        if (call.Count == 6 && !call.TryInt64(5, out full.Count))
            return call.Fail(Fault.NotAnInteger);
        full.Count = full.Count < 0 ? EntriesDefault : full.Count == 0 ? int.MaxValue : Math.Min(full.Count, int.MaxValue);
        return InfoCommands.Show(ref call, ref full);
    }
}

internal readonly struct XInfoGroups : ICommand
{
    public static CommandSpec Spec => InfoCommands.Spec("XINFO|GROUPS", 3, "key", "Tells about the groups of a stream.");

    public static Reply Run(ref Call call)
    {
        var look = new GroupsInfoLook { To = call.Out };
        return InfoCommands.Show(ref call, ref look);
    }
}

internal readonly struct XInfoConsumers : ICommand
{
    public static CommandSpec Spec => InfoCommands.Spec("XINFO|CONSUMERS", 4, "key group", "Tells about the consumers of a group.") with { Tips = "nondeterministic_output" };

    public static unsafe Reply Run(ref Call call)
    {
        var look = new ConsumersInfoLook { Name = new Operands(call.Args + 3, 1), To = call.Out, NowMs = call.NowMs };
        Reply reply = InfoCommands.Show(ref call, ref look);
        return reply == Reply.Sent && look.NoGroup ? GroupCommands.NoGroupOf(ref call, 2, 3) : reply;
    }
}

/// <summary>Replies XINFO STREAM.</summary>
internal unsafe struct StreamInfoLook : IExamine, IKindLook
{
    internal RespWriter To;

    public bool IsWrongKind { get; private set; }

    public void Look(ref RecordEdit record)
    {
        IsWrongKind = record.Kind != RecordKind.Stream;
        if (IsWrongKind)
            return;
        WriteHead(ref record, To, otherPairs: 3);
        To.Bulk("groups"u8);
        To.Int(StreamForm.Header(ref record)->Groups);
        To.Bulk("first-entry"u8);
        StreamWalk walk = StreamWalk.Between(ref record, StreamId.Min, StreamId.Max);
        WriteEnd(ref record, To, ref walk);
        To.Bulk("last-entry"u8);
        KeptPlaces places;
        walk = StreamWalk.Backwards(ref record, StreamId.Min, StreamId.Max, &places);
        WriteEnd(ref record, To, ref walk);
    }

    /// <summary>The first seven pairs, and six about producers if the stream knows of any.</summary>
    internal static void WriteHead(ref RecordEdit record, RespWriter to, int otherPairs)
    {
        StreamHeader* root = StreamForm.Header(ref record);
        bool hasProducers = StreamProducers.TryState(ref record, out ProducersState producers);
        to.Map(otherPairs + (hasProducers ? 13 : 7));
        to.Bulk("length"u8);
        to.Int(root->Length);
        // A page is what Redis calls a node; how its tree keeps them has no counterpart here.
        to.Bulk("radix-tree-keys"u8);
        to.Int(root->Pages);
        to.Bulk("radix-tree-nodes"u8);
        to.Int(root->Pages + 1);
        to.Bulk("last-generated-id"u8);
        StreamEntry.Reply(root->Last, to);
        to.Bulk("max-deleted-entry-id"u8);
        StreamEntry.Reply(root->MaxDeleted, to);
        to.Bulk("entries-added"u8);
        to.Int(root->Added);
        to.Bulk("recorded-first-entry-id"u8);
        StreamEntry.Reply(root->First, to);
        if (hasProducers)
            Write(producers, to);
    }

    private static void Write(in ProducersState producers, RespWriter to)
    {
        to.Bulk("idmp-duration"u8);
        to.Int(producers.Limits.Seconds);
        to.Bulk("idmp-maxsize"u8);
        to.Int(producers.Limits.Names);
        to.Bulk("pids-tracked"u8);
        to.Int(producers.Producers);
        to.Bulk("iids-tracked"u8);
        to.Int(producers.Names);
        to.Bulk("iids-added"u8);
        to.Int(producers.Added);
        to.Bulk("iids-duplicates"u8);
        to.Int(producers.Duplicates);
    }

    private static void WriteEnd(ref RecordEdit record, RespWriter to, ref StreamWalk walk)
    {
        if (walk.Next(ref record))
            walk.Current.Reply(walk.Page, to);
        else
            to.Null();
    }
}

/// <summary>Replies XINFO GROUPS.</summary>
internal unsafe struct GroupsInfoLook : IExamine, IKindLook
{
    internal RespWriter To;

    public bool IsWrongKind { get; private set; }

    public void Look(ref RecordEdit record)
    {
        IsWrongKind = record.Kind != RecordKind.Stream;
        if (IsWrongKind)
            return;
        NameTable groups = StreamGroups.Groups(ref record);
        To.Array(groups.Count);
        for (int i = 0; i < groups.Count; i++)
        {
            int slot = groups.SlotAt(i);
            var state = *(GroupState*)groups.State(slot);
            To.Map(6);
            To.Bulk("name"u8);
            To.Bulk(groups.Name(slot));
            To.Bulk("consumers"u8);
            To.Int(StreamGroups.Consumers(ref record, slot).Count);
            To.Bulk("pending"u8);
            To.Int(state.Pending);
            WriteProgress(StreamForm.Header(ref record), state, To);
        }
    }

    /// <summary>How far a group is: three pairs.</summary>
    internal static void WriteProgress(StreamHeader* root, in GroupState state, RespWriter to)
    {
        to.Bulk("last-delivered-id"u8);
        StreamEntry.Reply(state.Last, to);
        to.Bulk("entries-read"u8);
        WriteKnown(to, state.Read != GroupState.Unknown, state.Read);
        to.Bulk("lag"u8);
        bool isKnown = GroupLag.TryCount(root, state, out long lag);
        WriteKnown(to, isKnown, lag);
    }

    private static void WriteKnown(RespWriter to, bool isKnown, long value)
    {
        if (isKnown)
            to.Int(value);
        else
            to.Null();
    }
}

/// <summary>Replies XINFO CONSUMERS.</summary>
internal unsafe struct ConsumersInfoLook : IExamine, IKindLook
{
    internal Operands Name;
    internal RespWriter To;
    internal long NowMs;

    internal bool NoGroup;

    public bool IsWrongKind { get; private set; }

    public void Look(ref RecordEdit record)
    {
        IsWrongKind = record.Kind != RecordKind.Stream;
        if (IsWrongKind)
            return;
        NoGroup = !StreamGroups.TryGroup(ref record, Name, out int group);
        if (NoGroup)
            return;
        NameTable consumers = StreamGroups.Consumers(ref record, group);
        To.Array(consumers.Count);
        for (int i = 0; i < consumers.Count; i++)
        {
            int slot = consumers.SlotAt(i);
            var state = *(ConsumerState*)consumers.State(slot);
            To.Map(4);
            To.Bulk("name"u8);
            To.Bulk(consumers.Name(slot));
            To.Bulk("pending"u8);
            To.Int(state.Pending);
            To.Bulk("idle"u8);
            To.Int(Math.Max(NowMs - state.SeenMs, 0));
            To.Bulk("inactive"u8);
            To.Int(state.ActiveMs < 0 ? -1 : Math.Max(NowMs - state.ActiveMs, 0));
        }
    }
}

/// <summary>Replies XINFO STREAM FULL.</summary>
internal unsafe struct StreamFullLook : IExamine, IKindLook
{
    internal RespWriter To;
    internal long Count;

    public bool IsWrongKind { get; private set; }

    public void Look(ref RecordEdit record)
    {
        IsWrongKind = record.Kind != RecordKind.Stream;
        if (IsWrongKind)
            return;
        StreamInfoLook.WriteHead(ref record, To, otherPairs: 2);
        To.Bulk("entries"u8);
        StreamWalk walk = StreamWalk.Between(ref record, StreamId.Min, StreamId.Max), counter = walk;
        StreamRangeLook.WriteRest(ref record, To, ref walk, counter.Count(ref record, Count));
        To.Bulk("groups"u8);
        NameTable groups = StreamGroups.Groups(ref record);
        To.Array(groups.Count);
        for (int i = 0; i < groups.Count; i++)
            WriteGroup(ref record, groups, groups.SlotAt(i));
    }

    private readonly void WriteGroup(ref RecordEdit record, NameTable groups, int group)
    {
        var state = *(GroupState*)groups.State(group);
        long released = StreamGroups.Released(ref record, group);
        To.Map(released > 0 ? 8 : 7);
        To.Bulk("name"u8);
        To.Bulk(groups.Name(group));
        GroupsInfoLook.WriteProgress(StreamForm.Header(ref record), state, To);
        To.Bulk("pel-count"u8);
        To.Int(state.Pending);
        if (released > 0)
        {
            To.Bulk("nacked-count"u8); // else as the versions reply that know of none
            To.Int(released);
        }

        To.Bulk("pending"u8);
        WritePending(ref record, group, -1, state.Pending);
        To.Bulk("consumers"u8);
        NameTable consumers = StreamGroups.Consumers(ref record, group);
        To.Array(consumers.Count);
        for (int i = 0; i < consumers.Count; i++)
        {
            int slot = consumers.SlotAt(i);
            var consumer = *(ConsumerState*)consumers.State(slot);
            To.Map(5);
            To.Bulk("name"u8);
            To.Bulk(consumers.Name(slot));
            To.Bulk("seen-time"u8);
            To.Int(consumer.SeenMs);
            To.Bulk("active-time"u8);
            To.Int(consumer.ActiveMs);
            To.Bulk("pel-count"u8);
            To.Int(consumer.Pending);
            To.Bulk("pending"u8);
            WritePending(ref record, group, slot, consumer.Pending);
        }
    }

    private readonly void WritePending(ref RecordEdit record, int group, int consumer, long pending)
    {
        OrderedMap<PendingKey> map = consumer < 0 ? StreamGroups.ByGroup : StreamGroups.ByConsumer;
        long count = Math.Min(pending, Count);
        To.Array((int)count);
        MapPlace place = map.Seek(ref record, new PendingKey(StreamGroups.Owner(group, consumer), StreamId.Min));
        for (long i = 0; i < count && map.TryRead(ref record, ref place, out PendingKey key, out _); i++, place.Index++)
        {
            PendingState state = *StreamGroups.Pending(ref record, group, key.Id);
            To.Array(consumer < 0 ? 4 : 3);
            StreamEntry.Reply(key.Id, To);
            if (consumer < 0)
                To.Bulk(state.IsReleased ? default : StreamGroups.Consumers(ref record, group).Name(state.Consumer));
            To.Int(state.DeliveredMs);
            To.Int(state.Deliveries);
        }
    }
}
