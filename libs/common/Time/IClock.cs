namespace Garnet.Common.Time;

/// <summary>Time as the server sees it; injected, so that tests move it by hand.</summary>
public interface IClock
{
    /// <summary>Wall clock, milliseconds since 1970-01-01 UTC.</summary>
    long UnixMs { get; }

    /// <summary>Wall clock, microseconds since 1970-01-01 UTC.</summary>
    long UnixUs { get; }

    /// <summary>Microseconds of a clock that never goes back; only differences mean something.</summary>
    long MonotonicUs { get; }
}
