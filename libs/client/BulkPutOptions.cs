namespace Garnet.Client;

/// <summary>On what conditions a value is put, and how.</summary>
public sealed record BulkPutOptions
{
    /// <summary>Only if the value there has that version.</summary>
    public string? IfVersion { get; init; }

    /// <summary>Only if the key is not there.</summary>
    public bool IfAbsent { get; init; }

    /// <summary>Only if it is.</summary>
    public bool IfPresent { get; init; }

    /// <summary>How long it is to live; null: for good.</summary>
    public TimeSpan? Expiry { get; init; }

    /// <summary>Where the bytes begin in the value, of which the rest stays; null: they are all of it.</summary>
    public long? At { get; init; }

    /// <summary>The CRC-32C that the bytes must have when they have come.</summary>
    public uint? Crc { get; init; }
}
