using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Pm;
using Garnet.Aof.Reading;
using Garnet.Common;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Whether the files are there that the manifest, or a file's header, says there are, and are the ones that are meant: each may hold what
/// was acknowledged, and nothing else would show that it is gone.
/// </summary>
internal static class NamedFiles
{
    private const int HeadBytes = 4096;

    /// <summary>A snapshot that is durable, as a manifest names it.</summary>
    public static SnapshotName Snapshot(IDisk disk, string name, ulong batch) =>
        new(name, batch) { Bytes = LogFiles.Bytes(disk, name), HeadCrc = Crc32C.Of(WholeFile.Read(disk, name, HeadBytes)) };

    /// <summary>What is wrong with the file of a snapshot that a manifest names, without reading all of it; null = nothing.</summary>
    public static string? FaultOf(IDisk disk, SnapshotName named, string file)
    {
        if (!disk.List().Contains(file))
            return "the file is missing";
        if (named.Bytes == 0)
            return null; // not known
        SnapshotName found = Snapshot(disk, file, named.Batch);
        if (found.Bytes != named.Bytes)
            return $"it has {found.Bytes} bytes and had {named.Bytes}, as the manifest says";
        return found.HeadCrc == named.HeadCrc ? null : "it is not the file that the manifest names";
    }

    /// <summary>The header of a file of the log; null if it is not whole.</summary>
    public static FileHeader? HeaderOf(IDisk disk, string name) =>
        FileHeader.TryRead(WholeFile.Read(disk, name, FileHeader.Bytes), out FileHeader header) == HeaderState.Whole ? header : null;

    /// <summary>Files of the log that are missing, too short or others', and ends of files that are.</summary>
    public static IReadOnlyList<CheckFinding> Missing(IDisk disk, Manifest? manifest)
    {
        var missing = new List<CheckFinding>();
        for (int i = 0; i < manifest?.Logs.Count; i++)
            if (FaultOf(disk, i, manifest.Logs[i]) is { } fault)
                missing.Add(new CheckFinding(LogFileName.Of(i, manifest.Logs[i].FirstBatch), 0, fault, IsDamage: true));
        if (missing.Count == 0 && TailFiles.Missing(disk) is { } name)
            missing.Add(MissingTail(disk, name));
        return missing;
    }

    /// <summary>The error of a start that would go on without.</summary>
    public static GarnetException Refused(IDisk disk, IReadOnlyList<CheckFinding> missing) => new(ExitKind.Data,
        $"the log is not whole: {disk.Path}/{missing[0].File}", missing[0].Text,
        "Put the file back; or, to go on without what it held, set aof-on-corruption to truncate, or run 'garnet-server repair'.");

    private static CheckFinding MissingTail(IDisk disk, string name)
    {
        const string Lost = "it held what was written last, acknowledged changes among it";
        const string NotHere = "its end stands in persistent memory that is not here, or holds another's";
        const string ItsName = "aof-pm-path names it, for 'garnet-server check' too (--aof-pm-path FILE)";
        const string WithIt = "With it a start has all of it: a repair is for where it is gone";
        return HeaderOf(disk, name)?.Run == PmRing.Run
            ? new CheckFinding(name, 0, $"{NotHere}: {Lost}; {ItsName}. {WithIt}", IsDamage: true)
            : new CheckFinding(name + StagingFile.Suffix, 0, $"it is missing, or is not of {name} as that is: {Lost}", IsDamage: true);
    }

    private static string? FaultOf(IDisk disk, int sublog, NamedLog named)
    {
        List<LogFile> files = LogFiles.Of(disk, sublog);
        if (named.FirstBatch == 0 || files.Exists(file => file.FirstBatch > named.FirstBatch))
            return null; // begun behind it, named a moment later
        if (files.Find(file => file.FirstBatch == named.FirstBatch) is not { } last)
            return "the manifest names it, and it is missing: it held what was written last";
        if (LogFiles.Bytes(disk, last.Name) is var bytes && bytes < named.Bytes)
            return $"it has {bytes} bytes and had {named.Bytes}, as the manifest says";
        HeaderState state = FileHeader.TryRead(WholeFile.Read(disk, last.Name, FileHeader.Bytes), out FileHeader header);
        // a newer one is refused by who reads it
        bool isNamed = state == HeaderState.Newer || (state == HeaderState.Whole && header.Identity == named.HeaderCrc);
        return isNamed ? null : "it is not the file that the manifest names, or its header is damaged";
    }
}
