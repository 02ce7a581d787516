namespace Garnet.Aof.Writing;

/// <summary>Which sublog of how many, and where it goes on.</summary>
internal readonly record struct SublogPlace(int Number, int Count, AofStart Start)
{
    /// <summary>Checksum of the last header of this sublog; 0 if the chain begins anew.</summary>
    public uint Chain => Start.LastHeaderCrcs.Count == Count ? Start.LastHeaderCrcs[Number] : 0;
}
