namespace Garnet.Aof;

/// <summary>
/// Where a log goes on after recovery: what the writer needs to number, chain and lay out its next batch.
/// <paramref name="Term"/> is durable already; the next batch is <paramref name="LastBatch"/> + 1 and names, in each sublog,
/// the checksum in <paramref name="LastHeaderCrcs"/> (0 where a chain begins).
/// </summary>
public sealed record AofStart(uint Term, ulong LastBatch, IReadOnlyList<uint> LastHeaderCrcs, int Lanes, ulong HashSeed);
