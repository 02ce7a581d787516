namespace Garnet.Admin.Test;

/// <summary>Time that a test moves by hand.</summary>
internal sealed class ManualTime : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private TimeSpan _now;

    /// <summary>Timers that are set.</summary>
    internal int Timers
    {
        get
        {
            lock (_gate) return _timers.Count(static timer => timer.DueAt is not null);
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        timer.Change(dueTime, period);
        lock (_gate) _timers.Add(timer);
        return timer;
    }

    internal void Advance(TimeSpan by)
    {
        ManualTimer[] due;
        lock (_gate)
        {
            _now += by;
            due = [.. _timers.Where(timer => timer.DueAt <= _now)];
            foreach (ManualTimer timer in due) timer.DueAt = timer.Period > TimeSpan.Zero ? _now + timer.Period : null;
        }

        foreach (ManualTimer timer in due) timer.Run();
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        internal TimeSpan? DueAt { get; set; }
        internal TimeSpan Period { get; private set; }

        internal void Run() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._gate)
            {
                DueAt = dueTime < TimeSpan.Zero ? null : time._now + dueTime;
                Period = period;
            }

            return true;
        }

        public void Dispose()
        {
            lock (time._gate) time._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
