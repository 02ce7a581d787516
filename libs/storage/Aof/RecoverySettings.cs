using Tsavorite;

namespace Garnet.Aof;

/// <summary>How a data directory is recovered.</summary>
public sealed class RecoverySettings
{
    /// <summary>What to do about damage (an interrupted write at the end is no damage).</summary>
    public CorruptionPolicy OnCorruption { get; init; } = CorruptionPolicy.Refuse;
    /// <summary>Threads that apply entries, from 1.</summary>
    public int Threads { get; init; } = Environment.ProcessorCount;
    /// <summary>
    /// Whether a log written with another number of lanes or another seed of the key hash is read; otherwise it is refused.
    /// </summary>
    public bool ReloadsForeignLayout { get; init; } = true;
    /// <summary>What of the snapshot before it could not be read: changes of that are passed over. Null: nothing.</summary>
    public ColdLosses? Losses { get; init; }
}
