using NUnit.Framework;

namespace Tsavorite.Test.Interleaving;

/// <summary>What changes only in a turn alone is true to the end of a batch: what a number stands for, and whether there is a pause.</summary>
internal sealed class TurnTests
{
    [Test]
    public void What_a_batch_has_looked_up_is_true_to_its_end([Values] bool flushes) => Explore(() =>
    {
        var stage = new TurnStage(2);
        return ([() => stage.Move(0), () => stage.Change(1, flushes)], () => stage.Wrong(flushes), stage);
    });

    [Test]
    public void Nothing_is_written_by_who_has_not_seen_the_pause() => Explore(static () =>
    {
        var stage = new TurnStage(2);
        return ([() => stage.Count(0), () => stage.Pause(1)], () => stage.Seen, stage);
    });

    [Test]
    public void Of_several_who_want_the_turn_alone_one_has_it() => Explore(static () =>
    {
        var stage = new TurnStage(3);
        return ([() => stage.Count(0), () => stage.Pause(1), () => stage.Pause(2)], () => stage.Seen, stage);
    });

    private static void Explore(Func<(Action[] Bodies, Func<string?> Judge, IDisposable Stage)> scene)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Assert.That(Schedules.Explore(scene, seed), Is.Null);
    }
}
