namespace Garnet.Server.Inspect;

/// <summary>What keys have had of all workers together.</summary>
internal sealed class KeySums
{
    private readonly Dictionary<ulong, KeyWeight> _sums = [];

    /// <summary>One worker's.</summary>
    internal void Add(IEnumerable<KeyWeight> keys)
    {
        foreach (KeyWeight one in keys)
            _sums[one.Hash] = one with { Weight = one.Weight + _sums.GetValueOrDefault(one.Hash).Weight };
    }

    /// <summary>So many that have had most, most first.</summary>
    internal List<KeyWeight> First(int count) => [.. _sums.Values.OrderByDescending(static one => one.Weight).Take(count)];
}
