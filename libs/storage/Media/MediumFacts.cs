namespace Garnet.Media;

/// <summary>What a medium can do.</summary>
public sealed record MediumFacts
{
    /// <summary>Offsets, addresses and lengths are multiples of this many bytes.</summary>
    public required int BlockBytes { get; init; }

    /// <summary>What is synced outlives the process and the machine.</summary>
    public required PersistenceDomain Domain { get; init; }

    /// <summary>Reads and writes pass the system's cache by (O_DIRECT): memory is not taken twice.</summary>
    public required bool IsDirect { get; init; }

    /// <summary>It lies in memory itself (tmpfs, ramfs): what goes there frees none.</summary>
    public bool IsMemory { get; init; }

    /// <summary>How reads are handed to the device, and why not otherwise; for people.</summary>
    public required string Reading { get; init; }
}
