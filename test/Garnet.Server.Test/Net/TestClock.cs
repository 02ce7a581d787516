using Garnet.Common.Time;

namespace Garnet.Server.Test.Net;

/// <summary>The system's clock, moved on by hand.</summary>
internal sealed class TestClock : IClock
{
    private long _aheadMs;

    public long UnixMs => SystemClock.Instance.UnixMs + Volatile.Read(ref _aheadMs);

    public long UnixUs => SystemClock.Instance.UnixUs + (Volatile.Read(ref _aheadMs) * 1000);

    public long MonotonicUs => SystemClock.Instance.MonotonicUs + (Volatile.Read(ref _aheadMs) * 1000);

    public void Advance(long milliseconds) => Interlocked.Add(ref _aheadMs, milliseconds);
}
