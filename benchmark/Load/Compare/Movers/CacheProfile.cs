namespace Garnet.Load.Compare.Movers;

/// <summary>
/// A cache of small values as a large social network has published it (CacheLib's cachebench, hit_ratio/kvcache_reg): which keys are asked for, and how long their
/// values are. A value's length is its key's, so that both arms of a comparison write the same.
/// </summary>
internal sealed class CacheProfile(long keys, int seed)
{
    public const double GetShare = 0.9845;

    // Shares of all keys, the most popular first, and the shares of requests that go to them.
    private static readonly (double Keys, double Requests)[] s_groups = [(0.00009, 0.41), (0.0034, 0.65), (0.035, 0.80), (1, 1)];

    // The length that so many of the values do not exceed, bytes; between two of them it grows evenly. The mean comes to about 350.
    private static readonly (double Share, int Bytes)[] s_lengths = [(0, 60), (0.5, 191), (0.9, 223), (0.99, 991), (0.999, 13_023), (1, 160_000)];

    private ulong _random = (ulong)seed * 0x9E3779B97F4A7C15 | 1;

    public long Keys => keys;

    public bool NextIsGet() => NextShare() < GetShare;

    public long NextKey()
    {
        double share = NextShare();
        int group = 0;
        while (share >= s_groups[group].Requests) group++;
        long from = group == 0 ? 0 : (long)(s_groups[group - 1].Keys * keys), to = (long)(s_groups[group].Keys * keys);
        return from + (long)(NextShare() * (to - from));
    }

    public static int LengthOf(long key)
    {
        double share = ((ulong)(key + 1) * 0x9E3779B97F4A7C15 >> 11) * (1.0 / (1UL << 53));
        int next = 1;
        while (share >= s_lengths[next].Share && next < s_lengths.Length - 1) next++;
        (double fromShare, int fromBytes) = s_lengths[next - 1];
        (double toShare, int toBytes) = s_lengths[next];
        return fromBytes + (int)((share - fromShare) / (toShare - fromShare) * (toBytes - fromBytes));
    }

    private double NextShare()
    {
        _random ^= _random << 13;
        _random ^= _random >> 7;
        _random ^= _random << 17;
        return (_random >> 11) * (1.0 / (1UL << 53));
    }
}
