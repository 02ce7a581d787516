using Garnet.Common.Time;

namespace Garnet.Common.Test;

/// <summary>The figures of a long job follow the clock it was given.</summary>
public sealed class JobProgressTests
{
    [Test]
    public void Rate_and_time_left_follow_from_bytes_and_clock()
    {
        var clock = new HandClock();
        var progress = new JobProgress("replaying the log", clock);
        progress.Begin("replaying the log", 100_000_000);
        clock.MonotonicUs += 2_000_000;
        progress.Add(20_000_000);
        Assert.That(progress.BytesPerSecond, Is.EqualTo(10_000_000));
        Assert.That(progress.LeftMs, Is.EqualTo(8_000));
        Assert.That(progress.Format(), Is.EqualTo("replaying the log: 20.0 of 100.0 MB, 10.0 MB/s, about 8 s left"));
    }

    [Test]
    public void The_end_is_told_from_a_hundredth_on()
    {
        var clock = new HandClock();
        var progress = new JobProgress("replaying the log", clock);
        progress.Begin("replaying the log", 31_100_000);
        clock.MonotonicUs += 1_000_000;
        progress.Add(2_900);
        Assert.That(progress.LeftMs, Is.EqualTo(-1));
        Assert.That(progress.Format(), Is.EqualTo("replaying the log: 0.0 of 31.1 MB, 0.0 MB/s"));
        progress.Add(311_000 - 2_900);
        Assert.That(progress.LeftMs, Is.EqualTo(99_000));
        Assert.That(progress.Format(), Is.EqualTo("replaying the log: 0.3 of 31.1 MB, 0.3 MB/s, about 99 s left"));
    }

    [Test]
    public void What_is_not_known_is_not_said()
    {
        var progress = new JobProgress("checking", new HandClock());
        Assert.That(progress.LeftMs, Is.EqualTo(-1));
        progress.Add(1_000_000);
        Assert.That(progress.Format(), Is.EqualTo("checking: 1.0 MB, 0.0 MB/s"));
    }

    [Test]
    public void A_new_step_begins_from_zero()
    {
        var clock = new HandClock();
        var progress = new JobProgress("one", clock);
        progress.Add(5);
        clock.MonotonicUs += 1_000;
        progress.Begin("two", 10);
        Assert.That((progress.Kind, progress.DoneBytes, progress.TotalBytes, progress.ElapsedMs), Is.EqualTo(("two", 0, 10, 0)));
    }

    [Test]
    public void A_cancelled_job_ends_at_its_next_figure()
    {
        var progress = new JobProgress("one", new HandClock());
        progress.Add(5);
        progress.Cancel();
        Assert.That(() => progress.Add(1), Throws.TypeOf<OperationCanceledException>());
        Assert.That(() => progress.Begin("two", 1), Throws.TypeOf<OperationCanceledException>());
        Assert.That((progress.IsCancelled, progress.DoneBytes), Is.EqualTo((true, 5)));
    }

    private sealed class HandClock : IClock
    {
        public long UnixMs => 0;
        public long UnixUs => 0;
        public long MonotonicUs { get; set; }
    }
}
