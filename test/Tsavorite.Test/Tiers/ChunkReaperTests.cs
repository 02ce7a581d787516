using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Chunks of roots that are gone, removed by the movers and by whoever makes room, at the same time.</summary>
internal sealed class ChunkReaperTests
{
    [Test]
    public void Those_who_make_room_clear_away_what_lies_on_the_tier_beside_the_movers()
    {
        const int Roots = 300, Chunks = 24, Threads = 4, Holds = 2;
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int root = 0; root < Roots; root++)
        {
            for (uint chunk = 1; chunk <= Chunks; chunk++)
            {
                ChunkEdit edit = new() { Number = chunk, Bytes = new byte[100] };
                Assert.That(bench.Session.Edit(bench.Key("root" + root), ref edit), Is.EqualTo(Outcome.Done));
            }
        }

        bench.Demote();
        Assert.That(bench.Tier().Records, Is.GreaterThan(Roots * Chunks / 2));
        for (int root = 0; root < Roots; root++) bench.Delete("root" + root);
        using ChunkReaper reaper = new(bench.Store.Core);
        Task[] reaping = [.. Enumerable.Range(0, Threads).Select(_ => Task.Run(() =>
        {
            while (reaper.Step(Holds, passesHeld: false))
            {
            }
        }))];
        Assert.That(() => Task.WaitAll(reaping), Throws.Nothing);
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().Records, Is.Zero);
    }
}
