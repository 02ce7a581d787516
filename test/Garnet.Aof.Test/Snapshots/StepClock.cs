using Garnet.Common.Time;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>A clock that goes on by a fixed step whenever it is asked.</summary>
internal sealed class StepClock(long stepUs) : IClock
{
    private long _us = 1_790_000_000_000_000;

    public long UnixMs => UnixUs / 1000;
    public long UnixUs => _us += stepUs;
    public long MonotonicUs => UnixUs;
}
