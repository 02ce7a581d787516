namespace Garnet.Server.Base;

/// <summary>A share of <see cref="KeyChains{T}"/>; used with its gate held, but for the count.</summary>
internal sealed class KeyShard<T> where T : KeyLink<T>
{
    internal readonly Lock Gate = new();
    private readonly Dictionary<ulong, T> _chains = [];
    private volatile int _count;

    /// <summary>Links in it; from any thread.</summary>
    internal int Count => _count;

    /// <summary>The first link of each hash.</summary>
    internal Dictionary<ulong, T>.ValueCollection Chains => _chains.Values;

    /// <summary>The first link of that hash; the others hang on it.</summary>
    internal T? First(ulong hash) => _chains.GetValueOrDefault(hash);

    internal void Add(T link)
    {
        link.Next = First(link.Hash);
        _chains[link.Hash] = link;
        _count++;
    }

    internal void Remove(T link)
    {
        _count--;
        T first = _chains[link.Hash];
        if (first != link)
        {
            while (first.Next != link)
                first = first.Next!;
            first.Next = link.Next;
        }
        else if (link.Next is { } next)
        {
            _chains[link.Hash] = next;
        }
        else
        {
            _chains.Remove(link.Hash);
        }
    }
}
