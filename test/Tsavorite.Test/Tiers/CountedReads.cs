using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Reads k0, k1, … over a tier, each of which is known to have been answered from memory or from the tier, and what became of what it brought back.</summary>
internal sealed class CountedReads(Bench bench, int keys)
{
    /// <summary>Reads to a step of the movers.</summary>
    public const int PerStep = 16;
    private const int PerMs = 50, ProvedEvery = 97;

    private readonly bool[] _isUnread = new bool[keys]; // since it came back
    private readonly ColdTier _tier = bench.Store.Core.Tier!;
    private int _reads, _used, _wasted;

    public bool IsCold(uint key) => bench.Session.Tier!.Where(bench.Key("k" + key), bench.NowMs).IsCold;

    /// <summary>True if memory answered.</summary>
    public bool Read(uint key)
    {
        bool isProved = _reads % ProvedEvery == 0, wasCold = isProved && IsCold(key);
        long hits = bench.Session.Tier!.Hits, promoted = _tier.Of(TierCount.Promoted);
        if (bench.Get("k" + key) is null) throw new AssertionException($"k{key} is gone");
        bool isCold = bench.Session.Tier.Hits != hits;
        if (isProved) Assert.That(isCold, Is.EqualTo(wasCold), "the counter says where it lay");
        if (_isUnread[key] && isCold) _wasted++;
        if (_isUnread[key] && !isCold) _used++;
        _isUnread[key] = _tier.Of(TierCount.Promoted) != promoted;
        if (++_reads % PerStep == 0) bench.Store.StepMovers(bench.NowMs);
        if (_reads % PerMs == 0) bench.NowMs++;
        bench.Session.Tier.Poll(bench.NowMs);
        return !isCold;
    }

    /// <summary>The share of so many reads that memory answered.</summary>
    public double ShareOf(Func<uint> next, int count)
    {
        int hits = 0;
        for (int i = 0; i < count; i++)
        {
            if (Read(next())) hits++;
        }
        return (double)hits / count;
    }

    /// <summary>Of the records that came back and of which it is known by now, the share that left without having been read.</summary>
    public double WastedShare()
    {
        int wasted = _wasted + LeftUnread();
        return (double)wasted / (wasted + _used);
    }

    /// <summary>Begins to count these anew, and returns what there was.</summary>
    public double BeginPromotions()
    {
        double share = WastedShare();
        (_used, _wasted) = (0, -LeftUnread());
        return share;
    }

    private int LeftUnread() => Enumerable.Range(0, keys).Count(key => _isUnread[key] && IsCold((uint)key));
}
