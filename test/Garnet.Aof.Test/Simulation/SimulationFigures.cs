namespace Garnet.Aof.Test.Simulation;

/// <summary>What the seeds came to, to see that they went everywhere.</summary>
internal sealed record SimulationFigures
{
    /// <summary>Called with every beginning and end of a life.</summary>
    public Action<string>? Tell { get; init; }
    public int Lives { get; set; }
    public int Changes { get; set; }
    public int Crashes { get; set; }
    public int CrashesInRecovery { get; set; }
    public int Kills { get; set; }
    public int Stops { get; set; }
    public int Snapshots { get; set; }
    public int Cuts { get; set; }
    /// <summary>Lives in which a full disk had room again.</summary>
    public int Refilled { get; set; }
    public int Poisoned { get; set; }
    /// <summary>Records that went to a tier, and those of it that were there at starts.</summary>
    public long Demoted { get; set; }
    /// <inheritdoc cref="Demoted"/>
    public long FoundCold { get; set; }
    /// <summary>Batches that were durable when those who waited for them had written them to persistent memory themselves.</summary>
    public int OnTheSpot { get; set; }
    /// <summary>Turns of who drains rings in persistent memory.</summary>
    public int Drains { get; set; }
}
