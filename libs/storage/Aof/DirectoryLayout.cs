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

    /// <summary>True if a store can have so many partitions: a power of two up to 1,024.</summary>
    public static bool CanHave(int lanes) => lanes is > 0 and <= LanesMax && BitOperations.IsPow2(lanes);

    internal bool IsPossible => CanHave(Lanes) && Sublogs is > 0 and <= Manifest.SublogsMax;
}
