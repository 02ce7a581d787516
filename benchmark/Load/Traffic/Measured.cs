namespace Garnet.Load.Traffic;

/// <summary>The outcome of one run. Latencies are nanoseconds per batch.</summary>
internal sealed record Measured
{
    public required double Seconds { get; init; }
    public required long Replies { get; init; }
    public required double OpsPerSecond { get; init; }
    /// <summary>Server processor time per reply; zero when no server process was named.</summary>
    public required double ServerNs { get; init; }
    /// <summary>Share of the run in which the generator itself was on a core.</summary>
    public required double GeneratorShare { get; init; }
    /// <summary>Cores kept busy by processes other than the server and the generator.</summary>
    public required double ForeignCores { get; init; }
    public required long P50 { get; init; }
    public required long P99 { get; init; }
    public required long P999 { get; init; }
    public required long P9999 { get; init; }
    public required long Max { get; init; }
    /// <summary>Operations of the slowest connection over the mean of all.</summary>
    public required double Fairness { get; init; }
    public required long Errors { get; init; }
    public required long Nils { get; init; }
    public required long Wrong { get; init; }
    public required string? FirstError { get; init; }
}
