using Garnet.Media;

namespace Garnet.Aof;

/// <summary>
/// What a snapshot file is: the last batch whose changes it holds, the term, its size, its records, and what is wrong with it
/// (null = nothing; the other figures are to be believed then only).
/// </summary>
public sealed record SnapshotFacts(ulong Batch, uint Term, long Bytes, long Records, string? Damage)
{
    /// <summary>True if nothing is known to be wrong with it, but a newer version of the server wrote it.</summary>
    public bool IsNewer { get; init; }

    /// <summary>Of its records, those that lie on a tier, and in how many segments of it.</summary>
    public long Cold { get; init; }

    /// <inheritdoc cref="Cold"/>
    public long Segments { get; init; }

    /// <summary>Of the cold records and segments: how many lie in persistent memory, where the tier has a disk below it.</summary>
    public long ColdInMemory { get; init; }

    /// <inheritdoc cref="ColdInMemory"/>
    public long SegmentsInMemory { get; init; }

    /// <summary>The tier's id; none: it names no tier.</summary>
    public MediumId TierId { get; init; }

    /// <summary>When it was cut, Unix microseconds; 0 = not known.</summary>
    public long StartUnixUs { get; init; }

    /// <summary>Seed of the store's key hash, and its partitions; 0 partitions = the file does not tell.</summary>
    public ulong HashSeed { get; init; }

    /// <inheritdoc cref="HashSeed"/>
    public int Lanes { get; init; }
}
