using System.Runtime.InteropServices;

namespace Garnet.Server.Inspect;

/// <summary>What keys have had of all workers together.</summary>
internal sealed class KeySums
{
    private readonly Dictionary<ulong, KeyWeight> _sums = [];

    /// <summary>What a key has had of one worker. Its name is copied with the first of them.</summary>
    internal void Add(ulong hash, ReadOnlySpan<byte> name, long weight)
    {
        ref KeyWeight sum = ref CollectionsMarshal.GetValueRefOrAddDefault(_sums, hash, out bool isKnown);
        sum = new KeyWeight(hash, isKnown ? sum.Name : name.ToArray(), sum.Weight + weight);
    }

    /// <summary>So many that have had most, most first.</summary>
    internal List<KeyWeight> First(int count) => [.. _sums.Values.OrderByDescending(static one => one.Weight).Take(count)];
}
