using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>The keys that were named most in the last half minute or so, by what workers have sampled (<see cref="KeySampler"/>).</summary>
internal sealed class RecentKeys
{
    private readonly Lock _gate = new();
    private KeySampler[] _samplers = [];

    /// <summary>One for a worker.</summary>
    internal KeySampler For(Worker worker)
    {
        KeySampler sampler = new(worker);
        lock (_gate)
            _samplers = [.. _samplers, sampler];
        return sampler;
    }

    /// <summary>Those that were named most, with the share of commands on keys that named them first, most first.</summary>
    internal List<(byte[] Name, double Share)> Top(int count, long nowMs)
    {
        KeySums sums = new();
        long all = 0;
        foreach (KeySampler sampler in Volatile.Read(ref _samplers)) all += sampler.AddTo(sums, nowMs);

        return [.. sums.First(count).Select(one => (one.Name, (double)one.Weight / Math.Max(all, 1)))];
    }
}
