using Garnet.Common.Time;

namespace Garnet.Server.Test;

/// <summary>The system's clock, its wall clock wrong by as much as a test says.</summary>
internal sealed class ShiftedClock : IClock
{
    private long _shiftMs;

    /// <summary>How far the wall clock is ahead, milliseconds.</summary>
    public long ShiftMs
    {
        get => Volatile.Read(ref _shiftMs);
        set => Volatile.Write(ref _shiftMs, value);
    }

    public long MonotonicUs => SystemClock.Instance.MonotonicUs;

    public long UnixUs => SystemClock.Instance.UnixUs + (ShiftMs * 1000);

    public long UnixMs => SystemClock.Instance.UnixMs + ShiftMs;
}
