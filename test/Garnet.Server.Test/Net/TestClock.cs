using Garnet.Common.Time;

namespace Garnet.Server.Test.Net;

/// <summary>The system's clock, moved on by hand.</summary>
internal sealed class TestClock : IClock
{
    private readonly IClock _from = SystemClock.Instance;
    private long _aheadMs;
    private (long UnixUs, long MonotonicUs)? _stoppedAt;

    public long UnixMs => UnixUs / 1000;

    public long UnixUs => (_stoppedAt?.UnixUs ?? _from.UnixUs) + AheadUs;

    public long MonotonicUs => (_stoppedAt?.MonotonicUs ?? _from.MonotonicUs) + AheadUs;

    private long AheadUs => Volatile.Read(ref _aheadMs) * 1000;

    /// <summary>From here on the time goes on by hand alone. Before a server has the clock.</summary>
    public void Stop() => _stoppedAt = (_from.UnixUs, _from.MonotonicUs);

    public void Advance(long milliseconds) => Interlocked.Add(ref _aheadMs, milliseconds);
}
