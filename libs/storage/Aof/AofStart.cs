namespace Garnet.Aof;

/// <summary>Where the log goes on, as recovery found it.</summary>
/// <param name="Term">Term of the batches to come.</param>
/// <param name="LastBatch">The last batch recovered, 0 for none.</param>
/// <param name="LastHeaderCrcs">
/// Header checksum of that batch by sublog. If their number is not that of the sublogs now, all chains begin anew with 0.
/// </param>
/// <param name="Lanes">Partitions of the store.</param>
/// <param name="HashSeed">Seed of the store's key hash.</param>
public sealed record AofStart(uint Term, ulong LastBatch, IReadOnlyList<uint> LastHeaderCrcs, int Lanes, ulong HashSeed)
{
    /// <summary>Term of <see cref="LastBatch"/>; 0 = not known, then no replica can go on from there.</summary>
    public uint LastTerm { get; init; }

    /// <summary>Who begins the term (<see cref="Format.BatchHeader.Owner"/>).</summary>
    public uint Owner { get; init; }

    /// <summary>When that batch was closed, Unix microseconds; of a snapshot alone, when it was cut; 0 = not known.</summary>
    public long SealedUnixUs { get; init; }

    /// <summary>Behind which earlier batch nothing but empty ones came; null if that is not known, or not so.</summary>
    public LogPosition? Filled { get; init; }

    /// <summary>Terms whose beginnings the data directory knows, the last of them.</summary>
    public IReadOnlyList<TermStart> Terms { get; init; } = [];

    /// <summary>The place as others know it.</summary>
    public LogPosition Position => new(LastTerm, LastBatch, LastHeaderCrcs);
}
