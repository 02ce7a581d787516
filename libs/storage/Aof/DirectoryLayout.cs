using System.Numerics;
using Garnet.Aof.Format;

namespace Garnet.Aof;

/// <summary>
/// What a fresh data directory is made for: the store's partitions (the log's lanes) and the number of sublogs, 1 to 100.
/// </summary>
public sealed record DirectoryLayout(int Lanes, int Sublogs = 1)
{
    private const int LanesPerCore = 8, LanesMin = 64, LanesMax = 1024;

    /// <summary>As many lanes as the store has partitions by itself on this machine, one sublog.</summary>
    public static DirectoryLayout OfThisMachine { get; } = new(
        (int)Math.Clamp(BitOperations.RoundUpToPowerOf2((uint)(LanesPerCore * Environment.ProcessorCount)), LanesMin, LanesMax));

    internal bool IsPossible => Lanes > 0 && Sublogs is > 0 and <= Manifest.SublogsMax;
}
