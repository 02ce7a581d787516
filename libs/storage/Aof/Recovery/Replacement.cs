using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Puts a snapshot that came from a primary in the place of all that a directory held. What is to be true afterwards is written
/// down first, durable; from then on the steps are done, again after a crash if need be. Before it nothing has changed.
/// </summary>
internal static class Replacement
{
    /// <summary>The snapshot is whole and durable under its temporary name.</summary>
    public static void Do(IDisk disk, Manifest next)
    {
        WholeFile.Write(disk, Manifest.ReplacingFileName, next.Encode());
        disk.SyncDirectory();
        Finish(disk, next);
    }

    /// <summary>Finishes a replacement that a crash interrupted.</summary>
    public static void Resume(IDisk disk)
    {
        if (!disk.List().Contains(Manifest.ReplacingFileName))
            return;
        byte[] bytes = WholeFile.Read(disk, Manifest.ReplacingFileName, Manifest.BytesMax);
        // Not whole: the crash came while it was written, and nothing else had been done.
        if (Manifest.TryDecode(bytes, out Manifest? next) == HeaderState.Whole)
            Finish(disk, next!);
        else
            Delete(disk, Manifest.ReplacingFileName);
    }

    private static void Finish(IDisk disk, Manifest next)
    {
        string name = next.Snapshot!.File, unfinished = name + SnapshotFileName.UnfinishedSuffix;
        string there = disk.List().Contains(unfinished) ? unfinished : name;
        if (NamedFiles.FaultOf(disk, next.Snapshot, there) is { } fault)
            throw Refused(disk, there, fault);
        if (there == unfinished)
            disk.Rename(unfinished, name);
        foreach (LogFile file in LogFiles.All(disk)) disk.Delete(file.Name);
        foreach (string other in disk.List())
            if (other != name && SnapshotFileName.TryParse(other, out _))
                disk.Delete(other);
        ManifestFile.Publish(disk, next);
        Delete(disk, Manifest.ReplacingFileName);
    }

    // What was here before may be here still: it is not given up for a copy that is not there.
    private static GarnetException Refused(IDisk disk, string snapshot, string fault) => new(ExitKind.Data,
        $"the data directory cannot be read: {disk.Path}/{snapshot}",
        $"{fault}, and {Manifest.ReplacingFileName} says that it takes the place of all that is here",
        $"Put it back; or, to go on with what was here before, as far as that is not deleted, move {Manifest.ReplacingFileName} away.");

    private static void Delete(IDisk disk, string name)
    {
        disk.Delete(name);
        disk.SyncDirectory();
    }
}
