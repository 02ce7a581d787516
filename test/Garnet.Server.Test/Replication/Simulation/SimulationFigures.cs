namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>Where the simulation has been.</summary>
internal sealed class SimulationFigures
{
    public int Reads, ReadsInBatches, Refused, Writes, Acknowledged, Cuts, Crashes, Restarts, Promotions, PromotedAmidCopy, Full, Partial, Faults, Rotten, Reached, GivenUp, Released, Lost;

    /// <summary>Keys sent to a tier, and records read there by servers that died later.</summary>
    public long Demoted, ReadCold;

    public Action<string>? Tell { get; init; }

    public override string ToString() =>
        $"reads {Reads}, of them begun or ended inside a batch {ReadsInBatches}, looks that refused {Refused}, writes {Writes}, acknowledged {Acknowledged}, " +
        $"links cut {Cuts}, crashes {Crashes}, restarts {Restarts}, promotions {Promotions}, of them amid a full copy {PromotedAmidCopy}, full syncs {Full}, partial {Partial}, links refused {Faults}, damaged logs {Rotten}, tokens reached {Reached}, given up {GivenUp}, replies released {Released}, lost {Lost}, demoted {Demoted}, read on tiers {ReadCold}";
}
