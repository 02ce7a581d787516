using NUnit.Framework;

namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Who listens is told of every change after the look that it took under the key's lock, whoever begins and ends to listen beside it, for
/// the same reason or another; and the log has every change, whoever listens.
/// </summary>
internal sealed class ListeningTests
{
    [Test]
    public void A_change_is_told_to_who_listens_while_another_begins_and_ends([Values] bool forAnotherReason)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Assert.That(Schedules.Explore(() => Watchers(forAnotherReason), seed), Is.Null);
    }

    [Test]
    public void A_change_is_told_to_both_of_two_who_begin_at_once()
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Assert.That(Schedules.Explore(static () =>
        {
            var stage = new ListeningStage(2);
            return ([() => stage.WatchAndChange(0), () => stage.WatchAndChange(1)], () => stage.Missed, stage);
        }, seed), Is.Null);
    }

    // One watches; another begins and ends to listen; the third writes.
    private static (Action[] Bodies, Func<string?> Judge, IDisposable Stage) Watchers(bool forAnotherReason)
    {
        var stage = new ListeningStage(3);
        return ([() => stage.Watch(0), () => stage.BeginAndEnd(forAnotherReason), () => stage.Write(2)], () => stage.Missed, stage);
    }
}
