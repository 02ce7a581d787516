namespace Garnet.Bulk;

/// <summary>How an endpoint is opened.</summary>
public sealed record BulkEndpointOptions
{
    /// <summary>Whether regions may be exposed at all: without, none of this process's memory can be reached through the endpoint, whatever is asked of it later.</summary>
    public bool Exposes { get; init; }

    /// <summary>An address of this machine that others are to come to, for providers with a network; null: whichever the provider takes.</summary>
    public string? Bind { get; init; }

    /// <summary>Of transfers that name none.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Transfers at once, a power of two; more wait here.</summary>
    public int TransfersMax { get; init; } = 256;

    /// <summary>How long a Dispose waits for memory to come to rest.</summary>
    public TimeSpan CloseLimit { get; init; } = TimeSpan.FromSeconds(10);

    internal bool HasVirtualClock { get; init; }
}
