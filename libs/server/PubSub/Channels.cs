using System.Text;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.PubSub;

/// <summary>
/// Who is subscribed to what, for the whole server, and the delivery of messages.
///
/// pubsub.S1  Messages of one channel reach every subscriber in the same order: they are handed out under the lock.
/// pubsub.S2  A message that was under way while its receiver unsubscribed is dropped on arrival.
/// </summary>
internal sealed class Channels
{
    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], Audience>[] _subscribers =
        [new(ByteString.Comparer), new(ByteString.Comparer), new(ByteString.Comparer)];
    private volatile bool _any;

    /// <summary>Throws <see cref="TooLargeException"/> if nobody can subscribe to the name.</summary>
    internal static void Judge(ChannelKind kind, byte[] name)
    {
        if (kind == ChannelKind.Pattern)
            _ = new Glob(name);
    }

    /// <summary>Subscribes; false if the client was subscribed already.</summary>
    internal bool Subscribe(Connection client, ChannelKind kind, byte[] name)
    {
        Glob? pattern = kind == ChannelKind.Pattern ? new Glob(name) : null;
        client.Subscriptions ??= new Subscriptions();
        if (!client.Subscriptions.Add(kind, name))
            return false;
        lock (_gate)
        {
            if (!_subscribers[(int)kind].TryGetValue(name, out Audience? audience))
                _subscribers[(int)kind][name] = audience = new Audience(pattern, []);
            audience.Clients.Add(client);
            _any = true;
        }

        return true;
    }

    /// <summary>Unsubscribes; false if the client was not subscribed.</summary>
    internal bool Unsubscribe(Connection client, ChannelKind kind, byte[] name)
    {
        if (client.Subscriptions?.Remove(kind, name) != true)
            return false;
        lock (_gate)
            Remove(client, kind, name);
        return true;
    }

    /// <summary>Drops everything of a client that goes.</summary>
    internal void Forget(Connection client)
    {
        if (client.Subscriptions is not { Count: > 0 } subscriptions)
            return;
        lock (_gate)
        {
            for (ChannelKind kind = ChannelKind.Channel; kind <= ChannelKind.Shard; kind++)
            {
                foreach (byte[] name in subscriptions.Names(kind))
                    Remove(client, kind, name);
            }
        }

        client.Subscriptions = null;
    }

    /// <summary>Sends the message to all it concerns; returns the number of receivers (one per subscription).</summary>
    internal int Publish(Worker from, ChannelKind kind, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        if (!_any)
            return 0;
        int receivers = 0;
        lock (_gate)
        {
            if (_subscribers[(int)kind].GetAlternateLookup<ReadOnlySpan<byte>>()
                .TryGetValue(channel, out byte[]? name, out Audience? audience))
                receivers += Deliver(from, audience.Clients,
                    new Delivery(kind, name, kind == ChannelKind.Shard ? "smessage" : "message", channel, message));
            if (kind == ChannelKind.Channel)
                receivers += PublishToPatterns(from, channel, message);
        }

        return receivers;
    }

    /// <summary>Channels with subscribers whose names match; null = all.</summary>
    internal List<byte[]> Active(ChannelKind kind, byte[]? pattern)
    {
        var names = new List<byte[]>();
        Glob? glob = pattern is null ? null : new Glob(pattern);
        lock (_gate)
        {
            foreach (byte[] name in _subscribers[(int)kind].Keys)
            {
                if (glob?.Matches(name) != false)
                    names.Add(name);
            }
        }

        return names;
    }

    /// <summary>Subscribers of a channel.</summary>
    internal int CountSubscribers(ChannelKind kind, ReadOnlySpan<byte> name)
    {
        lock (_gate)
            return _subscribers[(int)kind].GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(name, out Audience? audience)
                ? audience.Clients.Count
                : 0;
    }

    /// <summary>Names with subscribers in a space.</summary>
    internal int CountNames(ChannelKind kind)
    {
        lock (_gate)
            return _subscribers[(int)kind].Count;
    }

    private int PublishToPatterns(Worker from, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        int receivers = 0;
        foreach ((byte[] pattern, Audience audience) in _subscribers[(int)ChannelKind.Pattern])
        {
            if (audience.Pattern!.Matches(channel))
                receivers += Deliver(from, audience.Clients, new Delivery(ChannelKind.Pattern, pattern, "pmessage", channel, message));
        }

        return receivers;
    }

    private static int Deliver(Worker from, List<Connection> clients, Delivery delivery)
    {
        int receivers = 0;
        foreach (Connection client in clients)
        {
            if (client.IsDismissed)
                continue; // it may not listen any more, and is about to go
            receivers++;
            if (client.Worker == from)
                from.Push(client, delivery.For(client));
            else
                client.Worker.Post(static (owner, receiver, content) => Arrive(owner, receiver!, (Delivery)content!), client, delivery);
        }

        return receivers;
    }

    private static void Arrive(Worker owner, Connection receiver, Delivery delivery)
    {
        if (!receiver.Closed && receiver.Subscriptions?.Contains(delivery.Kind, delivery.Name) == true)
            owner.Push(receiver, delivery.For(receiver));
    }

    private void Remove(Connection client, ChannelKind kind, byte[] name)
    {
        if (!_subscribers[(int)kind].TryGetValue(name, out Audience? audience))
            return;
        audience.Clients.Remove(client);
        if (audience.Clients.Count > 0)
            return;
        _subscribers[(int)kind].Remove(name);
        _any = _subscribers[0].Count + _subscribers[1].Count + _subscribers[2].Count > 0;
    }

    /// <summary>Who is subscribed to a name; a pattern is made once, for all that is published.</summary>
    private sealed record Audience(Glob? Pattern, List<Connection> Clients);

    /// <summary>One message on its way: encoded once, for both protocol versions (they differ in the first byte).</summary>
    private sealed class Delivery
    {
        private readonly byte[] _resp2;
        private byte[]? _resp3;

        internal Delivery(ChannelKind kind, byte[] name, string type, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
        {
            Kind = kind;
            Name = name;
            var bytes = new MemoryStream(name.Length + channel.Length + message.Length + 64);
            bytes.Write(Encoding.ASCII.GetBytes(kind == ChannelKind.Pattern ? "*4\r\n" : "*3\r\n"));
            AddBulk(bytes, Encoding.ASCII.GetBytes(type));
            if (kind == ChannelKind.Pattern)
                AddBulk(bytes, name);
            AddBulk(bytes, channel);
            AddBulk(bytes, message);
            _resp2 = bytes.ToArray();
        }

        internal ChannelKind Kind { get; }
        internal byte[] Name { get; }

        internal byte[] For(Connection client)
        {
            if (!client.Resp3)
                return _resp2;
            if (_resp3 is null)
            {
                byte[] copy = (byte[])_resp2.Clone();
                copy[0] = (byte)'>';
                _resp3 = copy;
            }

            return _resp3;
        }

        private static void AddBulk(MemoryStream to, ReadOnlySpan<byte> bytes)
        {
            to.Write(Encoding.ASCII.GetBytes($"${bytes.Length}\r\n"));
            to.Write(bytes);
            to.Write("\r\n"u8);
        }
    }
}
