using Garnet.Common.Time;

namespace Garnet.Aof.Test.Simulation;

/// <summary>A clock for one worker: whenever it looks at the time, the others have their turns.</summary>
internal sealed class TurningClock(IClock inner, Action turn) : IClock
{
    public long UnixMs => UnixUs / 1000;
    public long UnixUs => inner.UnixUs;

    public long MonotonicUs
    {
        get
        {
            turn();
            return inner.MonotonicUs;
        }
    }
}
