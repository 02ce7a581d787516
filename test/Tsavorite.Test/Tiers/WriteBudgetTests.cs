using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What may be written to a tier: so much a second, so much a day, whatever the clock does and whoever sets the limits anew.</summary>
internal sealed class WriteBudgetTests
{
    private const long Day = 24 * 60 * 60 * 1000, Begin = 1_700_000_000_000, MiB = 1 << 20;

    [Test]
    public void Without_a_limit_nobody_waits()
    {
        WriteBudget budget = new();
        budget.Spend(long.MaxValue / 2);
        Assert.That(budget.WaitMs(Begin), Is.Zero);
        budget.Limit(100, 0);
        Assert.That(budget.WaitMs(Begin), Is.Zero, "what was written before counts for nothing");
    }

    [TestCase(1000 * MiB, 0L, 1000)]
    [TestCase(0L, 1000 * MiB, Day)]
    [TestCase(3L, 0L, 1000)]
    [TestCase(1L << 40, 1L << 50, Day)]
    public void In_the_long_run_no_more_than_the_limit_is_written(long perSecond, long perDay, long periodMs)
    {
        const int Periods = 20;
        WriteBudget budget = new();
        budget.Limit(perSecond, perDay);
        long limit = perSecond == 0 ? perDay : perSecond, piece = Math.Max(limit / 7, 1), written = 0, nowMs = Begin;
        if (perSecond != 0 && perDay != 0) limit = Math.Min(perSecond * (Day / 1000), perDay);
        for (; nowMs < Begin + (Periods * periodMs); nowMs += Math.Max(1, budget.WaitMs(nowMs)))
        {
            if (budget.WaitMs(nowMs) != 0) continue;
            budget.Spend(piece);
            written += piece;
        }
        Assert.That(written, Is.InRange(limit * (Periods - 1), (limit * (Periods + 1)) + piece));
    }

    [Test]
    public void A_debt_is_waited_for_and_what_was_not_used_is_kept_for_one_period_only()
    {
        WriteBudget budget = new();
        budget.Limit(1000, 0);
        Assert.That(budget.WaitMs(Begin), Is.Zero);
        budget.Spend(3000);
        Assert.That(budget.WaitMs(Begin), Is.EqualTo(2001), "until there is a byte");
        Assert.That(budget.WaitMs(Begin + 2001), Is.Zero);
        Assert.That(budget.WaitMs(Begin + 1_000_000), Is.Zero);
        budget.Spend(1001);
        Assert.That(budget.WaitMs(Begin + 1_000_000), Is.GreaterThan(0));
    }

    [Test]
    public void Limits_set_anew_and_a_clock_set_back_win_nothing()
    {
        WriteBudget budget = new();
        budget.Limit(0, 1000);
        budget.Spend(budget.WaitMs(Begin) == 0 ? 1500 : 0);
        for (int i = 0; i < 10; i++)
        {
            budget.Limit(0, 10);
            budget.Limit(0, 1000);
            Assert.That(budget.WaitMs(Begin - (i * 1000)), Is.GreaterThan(Day / 3));
        }
        budget.Limit(0, 0);
        Assert.That(budget.WaitMs(Begin), Is.Zero);
    }
}
