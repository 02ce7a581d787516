using Garnet.Aof.Checking;
using Garnet.Aof.Disk;

namespace Garnet.Aof;

/// <summary>
/// Reads everything in a data directory and says what is wrong with it; changes nothing and needs no store. The caller sees to it
/// that no server uses the directory. Throws <see cref="DiskException"/>.
/// </summary>
public static class DirectoryCheck
{
    /// <summary>Checks manifest, snapshots and the whole log, also the part of it that a recovery would not read.</summary>
    public static CheckReport Run(IDisk disk, ISnapshotSource snapshots, JobProgress progress)
    {
        using var inspection = new Inspection(disk, snapshots, progress);
        inspection.Run();
        IReadOnlyList<CheckFinding> findings = inspection.Findings;
        if (TailFiles.Missing(disk) is { } name)
        {
            findings = [.. findings, new CheckFinding(name + StagingFile.Suffix, 0,
                $"is missing or is not of {name}: it held what was written last. Put it back, or start once with aof-on-corruption truncate to go on without", IsDamage: true)];
        }
        return new CheckReport { Findings = findings, LastBatch = inspection.LastBatch, Batches = inspection.Batches };
    }
}
