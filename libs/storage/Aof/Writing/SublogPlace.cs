namespace Garnet.Aof.Writing;

/// <summary>Which sublog of how many, where it goes on, and whether it takes the batches of a primary.</summary>
internal readonly record struct SublogPlace(int Number, int Count, AofStart Start, bool Follows = false)
{
    /// <summary>Checksum of the last header of this sublog; 0 if the chain begins anew.</summary>
    public uint Chain => Start.LastHeaderCrcs.Count == Count ? Start.LastHeaderCrcs[Number] : 0;
}
