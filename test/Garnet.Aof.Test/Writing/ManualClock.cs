using Garnet.Common.Time;

namespace Garnet.Aof.Test.Writing;

/// <summary>A clock that a test moves by hand.</summary>
internal sealed class ManualClock : IClock
{
    private long _us = 1_000_000_000;
    private long _jumpUs;

    public long UnixMs => UnixUs / 1000;
    public long UnixUs => MonotonicUs + 1_790_000_000_000_000 + Volatile.Read(ref _jumpUs);
    public long MonotonicUs => Volatile.Read(ref _us);

    /// <summary>Somebody sets the wall clock; time that has passed is not concerned.</summary>
    public void SetWall(long byUs) => Interlocked.Add(ref _jumpUs, byUs);

    public void Advance(long us) => Interlocked.Add(ref _us, us);
}
