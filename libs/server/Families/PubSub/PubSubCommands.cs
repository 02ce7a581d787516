using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.PubSub;

namespace Garnet.Server.Families.PubSub;

/// <summary>Publish and subscribe, by channel, pattern and shard channel.</summary>
internal static class PubSubCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Subscribe>();
        table.Add<PSubscribe>();
        table.Add<SSubscribe>();
        table.Add<Unsubscribe>();
        table.Add<PUnsubscribe>();
        table.Add<SUnsubscribe>();
        table.Add<Publish>();
        table.Add<SPublish>();
        table.AddContainer(Spec("PUBSUB", -2, CommandFlags.None, "", "Looks into the subscriptions of the server.", "2.8.0"));
        table.Add<PubSubChannels>();
        table.Add<PubSubNumPat>();
        table.Add<PubSubNumSub>();
        table.Add<PubSubShardChannels>();
        table.Add<PubSubShardNumSub>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since) =>
        new(name, arity, flags | CommandFlags.PubSub | CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "pubsub",
            Syntax = syntax,
            Summary = summary,
            Since = since,
            Complexity = "O(N)",
        };

    internal static CommandSpec SubscriptionSpec(string name, int arity, string syntax, string summary, string since) =>
        Spec(name, arity, CommandFlags.NoScript | CommandFlags.WhileSubscribed, syntax, summary, since);

    /// <summary>Subscribes to every argument, one acknowledgement each.</summary>
    internal static Reply SubscribeAll(ref Call call, ChannelKind kind, ReadOnlySpan<byte> word)
    {
        // All are judged before the first: what was subscribed to is told, or nothing was subscribed to.
        Subscriptions? held = call.Client.Subscriptions;
        long bytes = held?.MemoryBytes ?? 0;
        for (int i = 1; i < call.Count; i++)
        {
            byte[] name = call[i].ToArray();
            Channels.Judge(kind, name);
            if (held?.Contains(kind, name) != true && (bytes += Subscriptions.BytesOf(name)) > Subscriptions.MemoryBytesMax)
                return call.Fail(Fault.ResourceLimit);
        }

        for (int i = 1; i < call.Count; i++)
        {
            call.Server.Observers.Channels.Subscribe(call.Client, kind, call[i].ToArray());
            Acknowledge(ref call, word, call[i], kind);
        }

        call.Client.Modes |= ClientModes.Subscribed;
        return Reply.Sent;
    }

    /// <summary>Unsubscribes from every argument, or from all there are; one acknowledgement each, one at least.</summary>
    internal static Reply UnsubscribeAll(ref Call call, ChannelKind kind, ReadOnlySpan<byte> word)
    {
        Connection client = call.Client;
        for (int i = 1; i < call.Count; i++)
        {
            call.Server.Observers.Channels.Unsubscribe(client, kind, call[i].ToArray());
            Acknowledge(ref call, word, call[i], kind);
        }

        if (call.Count == 1)
        {
            byte[][] all = client.Subscriptions is { } held ? [.. held.Names(kind)] : [];
            foreach (byte[] name in all)
            {
                call.Server.Observers.Channels.Unsubscribe(client, kind, name);
                Acknowledge(ref call, word, name, kind);
            }

            if (all.Length == 0)
                AcknowledgeNothing(ref call, word, kind);
        }

        if (client.Subscriptions is not { Count: > 0 })
            client.Modes &= ~ClientModes.Subscribed;
        return Reply.Sent;
    }

    internal static Reply List(ref Call call, ChannelKind kind)
    {
        if (call.Count > 3)
            return call.WrongSubcommandArity();
        List<byte[]> names = call.Server.Observers.Channels.Active(kind, call.Count == 3 ? call[2].ToArray() : null);
        call.Out.Array(names.Count);
        foreach (byte[] name in names)
            call.Out.Bulk(name);
        return Reply.Sent;
    }

    internal static Reply CountEach(ref Call call, ChannelKind kind)
    {
        call.Out.Array((call.Count - 2) * 2);
        for (int i = 2; i < call.Count; i++)
        {
            call.Out.Bulk(call[i]);
            call.Out.Int(call.Server.Observers.Channels.CountSubscribers(kind, call[i]));
        }

        return Reply.Sent;
    }

    private static void Acknowledge(ref Call call, ReadOnlySpan<byte> word, ReadOnlySpan<byte> name, ChannelKind kind)
    {
        call.Out.Push(3);
        call.Out.Bulk(word);
        call.Out.Bulk(name);
        call.Out.Int(call.Client.Subscriptions?.CountFor(kind) ?? 0);
    }

    private static void AcknowledgeNothing(ref Call call, ReadOnlySpan<byte> word, ChannelKind kind)
    {
        call.Out.Push(3);
        call.Out.Bulk(word);
        call.Out.Null();
        call.Out.Int(call.Client.Subscriptions?.CountFor(kind) ?? 0);
    }
}

internal readonly struct Subscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("SUBSCRIBE", -2, "channel [channel ...]", "Listens to channels.", "2.0.0") with { Channels = ChannelSpec.All };

    public static Reply Run(ref Call call) => PubSubCommands.SubscribeAll(ref call, ChannelKind.Channel, "subscribe"u8);
}

internal readonly struct PSubscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("PSUBSCRIBE", -2, "pattern [pattern ...]", "Listens to all channels that match patterns.", "2.0.0") with { Channels = ChannelSpec.Patterns };

    public static Reply Run(ref Call call) => PubSubCommands.SubscribeAll(ref call, ChannelKind.Pattern, "psubscribe"u8);
}

internal readonly struct SSubscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("SSUBSCRIBE", -2, "shardchannel [shardchannel ...]", "Listens to shard channels.", "7.0.0") with { Channels = ChannelSpec.All };

    public static Reply Run(ref Call call) => PubSubCommands.SubscribeAll(ref call, ChannelKind.Shard, "ssubscribe"u8);
}

internal readonly struct Unsubscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("UNSUBSCRIBE", -1, "[channel [channel ...]]", "Stops listening to channels.", "2.0.0");

    public static Reply Run(ref Call call) => PubSubCommands.UnsubscribeAll(ref call, ChannelKind.Channel, "unsubscribe"u8);
}

internal readonly struct PUnsubscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("PUNSUBSCRIBE", -1, "[pattern [pattern ...]]", "Stops listening to patterns.", "2.0.0");

    public static Reply Run(ref Call call) => PubSubCommands.UnsubscribeAll(ref call, ChannelKind.Pattern, "punsubscribe"u8);
}

internal readonly struct SUnsubscribe : ICommand
{
    public static CommandSpec Spec => PubSubCommands.SubscriptionSpec("SUNSUBSCRIBE", -1, "[shardchannel [shardchannel ...]]", "Stops listening to shard channels.", "7.0.0");

    public static Reply Run(ref Call call) => PubSubCommands.UnsubscribeAll(ref call, ChannelKind.Shard, "sunsubscribe"u8);
}

internal readonly struct Publish : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBLISH", 3, CommandFlags.Fast | CommandFlags.MayReplicate, "channel message", "Sends a message to a channel.", "2.0.0") with { Channels = ChannelSpec.One };

    public static Reply Run(ref Call call) =>
        call.Int(call.Server.Observers.Channels.Publish(call.Worker, ChannelKind.Channel, call[1], call[2]));
}

internal readonly struct SPublish : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("SPUBLISH", 3, CommandFlags.Fast | CommandFlags.MayReplicate, "shardchannel message", "Sends a message to a shard channel.", "7.0.0") with { Channels = ChannelSpec.One };

    public static Reply Run(ref Call call) =>
        call.Int(call.Server.Observers.Channels.Publish(call.Worker, ChannelKind.Shard, call[1], call[2]));
}

internal readonly struct PubSubChannels : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBSUB|CHANNELS", -2, CommandFlags.None, "[pattern]", "Lists the channels with subscribers.", "2.8.0");

    public static Reply Run(ref Call call) => PubSubCommands.List(ref call, ChannelKind.Channel);
}

internal readonly struct PubSubNumPat : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBSUB|NUMPAT", 2, CommandFlags.None, "", "Counts the patterns with subscribers.", "2.8.0");

    public static Reply Run(ref Call call) => call.Int(call.Server.Observers.Channels.CountNames(ChannelKind.Pattern));
}

internal readonly struct PubSubNumSub : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBSUB|NUMSUB", -2, CommandFlags.None, "[channel [channel ...]]", "Counts the subscribers of channels.", "2.8.0");

    public static Reply Run(ref Call call) => PubSubCommands.CountEach(ref call, ChannelKind.Channel);
}

internal readonly struct PubSubShardChannels : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBSUB|SHARDCHANNELS", -2, CommandFlags.None, "[pattern]", "Lists the shard channels with subscribers.", "7.0.0");

    public static Reply Run(ref Call call) => PubSubCommands.List(ref call, ChannelKind.Shard);
}

internal readonly struct PubSubShardNumSub : ICommand
{
    public static CommandSpec Spec => PubSubCommands.Spec("PUBSUB|SHARDNUMSUB", -2, CommandFlags.None, "[shardchannel [shardchannel ...]]", "Counts the subscribers of shard channels.", "7.0.0");

    public static Reply Run(ref Call call) => PubSubCommands.CountEach(ref call, ChannelKind.Shard);
}
