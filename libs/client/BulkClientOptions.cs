namespace Garnet.Client;

/// <summary>How a client connects.</summary>
public sealed record BulkClientOptions
{
    /// <summary>
    /// What may carry the bytes, the best first: <c>local</c>, <c>verbs</c>, <c>net</c> (the last two of libfabric, to a server elsewhere whose
    /// bulk-providers names them), <c>inline</c>. The last is taken if nothing before it can be had.
    /// </summary>
    public IReadOnlyList<string> Providers { get; init; } = ["local", "inline"];

    /// <summary>Whom to log in as; null: as nobody in particular.</summary>
    public string? User { get; init; }

    public string? Password { get; init; }

    /// <summary>How long the server may take to answer.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}
