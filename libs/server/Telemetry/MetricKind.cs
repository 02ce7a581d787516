namespace Garnet.Server.Telemetry;

/// <summary>Types of OpenMetrics that there are here.</summary>
public enum MetricKind
{
    /// <summary>A number that goes up and down.</summary>
    Gauge,
    /// <summary>A number that goes up until the start, or CONFIG RESETSTAT, sets it back.</summary>
    Counter,
    /// <summary>How often something lay below each of some bounds.</summary>
    Histogram,
}
