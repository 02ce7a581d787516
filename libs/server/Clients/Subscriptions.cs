using Garnet.Server.Base;

namespace Garnet.Server.Clients;

/// <summary>The three spaces of subscriptions.</summary>
internal enum ChannelKind
{
    /// <summary>SUBSCRIBE.</summary>
    Channel,
    /// <summary>PSUBSCRIBE.</summary>
    Pattern,
    /// <summary>SSUBSCRIBE.</summary>
    Shard,
}

/// <summary>What one client is subscribed to; made with its first subscription, bounded by <see cref="MemoryBytesMax"/>.</summary>
internal sealed class Subscriptions
{
    /// <summary>Memory one client's subscriptions may take: 64 MiB, about half a million names.</summary>
    internal const long MemoryBytesMax = 64L << 20;

    private const int EntryBytes = 96;
    private readonly HashSet<byte[]>[] _names = [new(ByteString.Comparer), new(ByteString.Comparer), new(ByteString.Comparer)];

    /// <summary>Bytes taken, estimated by entry.</summary>
    internal long MemoryBytes { get; private set; }

    /// <summary>All subscriptions.</summary>
    internal int Count => _names[0].Count + _names[1].Count + _names[2].Count;

    /// <summary>Subscriptions as the acknowledgements count them: channels and patterns together, shard channels apart.</summary>
    internal int CountFor(ChannelKind kind) => kind == ChannelKind.Shard ? _names[2].Count : _names[0].Count + _names[1].Count;

    /// <summary>The names of a space.</summary>
    internal IReadOnlyCollection<byte[]> Names(ChannelKind kind) => _names[(int)kind];

    /// <summary>True if subscribed to the name.</summary>
    internal bool Contains(ChannelKind kind, byte[] name) => _names[(int)kind].Contains(name);

    /// <summary>Bytes a subscription takes, an estimate.</summary>
    internal static long BytesOf(byte[] name) => EntryBytes + name.Length;

    internal bool Add(ChannelKind kind, byte[] name)
    {
        if (!_names[(int)kind].Add(name))
            return false;
        MemoryBytes += BytesOf(name);
        return true;
    }

    internal bool Remove(ChannelKind kind, byte[] name)
    {
        if (!_names[(int)kind].Remove(name))
            return false;
        MemoryBytes -= BytesOf(name);
        return true;
    }
}
