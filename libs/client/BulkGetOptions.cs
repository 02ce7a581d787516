namespace Garnet.Client;

/// <summary>Which part of a value is wanted, and of which version.</summary>
public sealed record BulkGetOptions
{
    /// <summary>The first byte.</summary>
    public long From { get; init; }

    /// <summary>How many; null: as many as there are and there is room for.</summary>
    public int? Length { get; init; }

    /// <summary>Only if the value has that version.</summary>
    public string? IfVersion { get; init; }
}
