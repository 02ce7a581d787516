using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof;

/// <summary>Reads snapshot files; how they look inside is its secret.</summary>
public interface ISnapshotSource
{
    /// <summary>Reads the whole file and says what it is; damage is an answer, not an exception.</summary>
    SnapshotFacts Check(IDisk disk, string name, JobProgress progress);

    /// <summary>What the file names of the store's tier is kept, as the file may be loaded at a later start.</summary>
    void Keep(IDisk disk, string name, Store store);

    /// <summary>
    /// Loads a file that was found sound into an empty store, without logging. All of its values are judged, but for what was sealed with the key.
    /// Returns what is wrong with segments of a tier that it names, so far as their records show for themselves what they are.
    /// </summary>
    IReadOnlyList<string> Load(IDisk disk, string name, Store store, JobProgress progress, DirectoryKey? key = null);
}
