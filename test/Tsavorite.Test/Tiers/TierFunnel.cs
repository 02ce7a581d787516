using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>store.C8, as the figures of a tier at rest must have it: nothing that was considered is unaccounted for.</summary>
internal static class TierFunnel
{
    public static void Expect(TierFigures? tier)
    {
        if (tier is null) return;
        long rejected = tier.RejectedOff + tier.RejectedFrequency + tier.RejectedHeadroom + tier.RejectedHeld + tier.Observed;
        Assert.That(tier.Considered, Is.EqualTo(tier.Admitted + rejected), "considered = admitted + rejected");
        Assert.That(tier.Admitted, Is.EqualTo(tier.Promoted + tier.Lost), "admitted = completed + lost");
        Assert.That(tier.ReadsByTime.Sum(), Is.EqualTo(tier.Reads - (tier.Memory?.Reads ?? 0)), "every read has its time");
        Assert.That(tier.PromotedBytes == 0, Is.EqualTo(tier.Promoted == 0));
    }
}
