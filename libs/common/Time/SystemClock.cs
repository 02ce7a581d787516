using System.Diagnostics;

namespace Garnet.Common.Time;

/// <summary>The machine's clocks: the only place that reads them.</summary>
public sealed class SystemClock : IClock
{
    private const long TicksPerMicrosecond = TimeSpan.TicksPerMillisecond / 1000;
    private static readonly double MicrosecondsPerTick = 1_000_000.0 / Stopwatch.Frequency;

    /// <summary>The one instance.</summary>
    public static SystemClock Instance { get; } = new();

    /// <inheritdoc/>
    public long UnixMs => (DateTime.UtcNow.Ticks - DateTime.UnixEpoch.Ticks) / TimeSpan.TicksPerMillisecond;

    /// <inheritdoc/>
    public long UnixUs => (DateTime.UtcNow.Ticks - DateTime.UnixEpoch.Ticks) / TicksPerMicrosecond;

    /// <inheritdoc/>
    public long MonotonicUs => (long)(Stopwatch.GetTimestamp() * MicrosecondsPerTick);
}
