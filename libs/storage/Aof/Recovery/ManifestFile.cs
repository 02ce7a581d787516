using System.Buffers.Binary;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Aof.Recovery;

/// <summary>
/// The manifest on disk. log.M1: whatever it names is durable before it is written; it is written aside, synced, renamed, and the
/// directory synced, and only then may anything the old one named be given up.
/// </summary>
internal static class ManifestFile
{
    public static void Publish(IDisk disk, Manifest manifest)
    {
        WholeFile.Write(disk, Manifest.NextFileName, manifest.Encode());
        disk.Rename(Manifest.NextFileName, Manifest.FileName);
        disk.SyncDirectory();
    }

    /// <summary>Reads the manifest; in a directory that holds nothing of ours yet, makes one.</summary>
    public static Manifest Open(IDisk disk, DirectoryLayout fresh)
    {
        Replacement.Resume(disk);
        IReadOnlyList<string> files = disk.List();
        foreach (string unfinished in files.Where(static name =>
            name is Manifest.NextFileName or DirectoryKey.NextFileName || SnapshotFileName.IsUnfinished(name)))
            disk.Delete(unfinished); // a crash before the rename
        if (files.Contains(Manifest.FileName))
            return Read(disk);
        string? other = files.FirstOrDefault(static name => LogFileName.TryParse(name, out _, out _)
            || SnapshotFileName.TryParse(name, out _));
        if (other != null)
            throw Refused(disk, $"it is missing, but there is {other}");
        Manifest manifest = Fresh(fresh);
        Publish(disk, manifest);
        return manifest;
    }

    /// <summary>The manifest if it can be read, else null.</summary>
    public static HeaderState TryRead(IDisk disk, out Manifest? manifest)
    {
        manifest = null;
        return disk.List().Contains(Manifest.FileName)
            ? Manifest.TryDecode(WholeFile.Read(disk, Manifest.FileName, Manifest.BytesMax), out manifest)
            : HeaderState.None;
    }

    private static Manifest Read(IDisk disk) => TryRead(disk, out Manifest? manifest) switch
    {
        HeaderState.Whole => manifest!,
        HeaderState.Newer => throw new GarnetException(ExitKind.Data, $"the data directory cannot be read: {disk.Path}/{Manifest.FileName}",
            "a newer version of the server wrote it", "Start that version, or name another directory."),
        _ => throw Refused(disk, "it is damaged (its checksum does not hold)"),
    };

    private static Manifest Fresh(DirectoryLayout layout)
    {
        if (!layout.IsPossible)
            throw new GarnetException(ExitKind.Configuration, "the data directory cannot be made",
                $"{layout.Sublogs} sublogs of {layout.Lanes} lanes are not possible",
                $"Ask for 1 to {Manifest.SublogsMax} sublogs.");
        // Odd, for 0 means none to the store.
        ulong seed = BinaryPrimitives.ReadUInt64LittleEndian(Libc.RandomBytes(sizeof(ulong))) | 1;
        return new Manifest { HashSeed = seed, Lanes = layout.Lanes, Sublogs = layout.Sublogs, Term = 0 };
    }

    private static GarnetException Refused(IDisk disk, string why) => new(ExitKind.Data,
        $"the data directory cannot be read: {disk.Path}/{Manifest.FileName}", why,
        "Put it back from a copy, or let 'garnet-server repair' make one from the other files.");
}
