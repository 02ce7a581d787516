using Garnet.Common.Time;

namespace Garnet.Server.Test.Replication;

/// <summary>The system's clock, which a test stops or puts forward.</summary>
internal sealed class HandClock : IClock
{
    private long _aheadUs, _stoppedUs;

    public long UnixMs => UnixUs / 1000;

    public long UnixUs => SystemClock.Instance.UnixUs + Volatile.Read(ref _aheadUs);

    public long MonotonicUs =>
        Volatile.Read(ref _stoppedUs) is > 0 and var stopped ? stopped : SystemClock.Instance.MonotonicUs + Volatile.Read(ref _aheadUs);

    internal void PutForward(TimeSpan by) => Interlocked.Add(ref _aheadUs, (long)by.TotalMicroseconds);

    /// <summary>What is done each second is done no more.</summary>
    internal void Stop() => Volatile.Write(ref _stoppedUs, MonotonicUs);
}
