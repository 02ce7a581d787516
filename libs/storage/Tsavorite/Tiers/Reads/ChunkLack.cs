namespace Tsavorite;

/// <summary>What a look at a chunk that lies on a tier takes for lacked, and does about it.</summary>
[Flags]
internal enum ChunkLack
{
    /// <summary>What nobody has asked for yet; only asked.</summary>
    Unknown = 0,

    /// <summary>What is on its way, too: for a step that does not begin before all is there.</summary>
    Coming = 1,

    /// <summary>What is lacked is among the missing from then on (<see cref="ColdReads.HasMissing"/>).</summary>
    Fetches = 2,

    /// <summary>It is not needed yet (<see cref="ColdRead.IsAhead"/>).</summary>
    Ahead = 4,
}
