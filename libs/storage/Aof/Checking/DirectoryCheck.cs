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
        return new CheckReport { Findings = inspection.Findings, LastBatch = inspection.LastBatch, Batches = inspection.Batches };
    }
}
