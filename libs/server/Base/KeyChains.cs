namespace Garnet.Server.Base;

/// <summary>What is kept beside the store about keys that somebody watches or waits for: found by hash, in shares with a lock each.</summary>
internal sealed class KeyChains<T> where T : KeyLink<T>
{
    private const int Count = 64;

    /// <summary>All shares.</summary>
    internal KeyShard<T>[] Shards { get; } = Arrays.Of(Count, static () => new KeyShard<T>());

    internal KeyShard<T> Of(ulong hash) => Shards[hash % Count];
}
