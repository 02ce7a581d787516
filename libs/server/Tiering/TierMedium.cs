using System.Buffers.Binary;
using Garnet.Aof;
using Garnet.Aof.Format;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Media;
using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>Opens what the settings say the tier lies on.</summary>
internal static class TierMedium
{
    private const ulong IndexBucketsMax = 1 << 16;
    /// <summary>A file may have been made under a larger maxmemory; what its index takes at least leaves this part to the data.</summary>
    private const int IndexPart = 2;

    /// <summary>
    /// The medium; null without a tier. Where there is a data directory, the file is that directory's, and snapshots may name what lies in it; the index that goes
    /// with <paramref name="memoryLimitBytes"/> is noted in it, since the names go by it. Nothing that was there is changed before <see cref="Settle"/>.
    /// </summary>
    /// <exception cref="GarnetException">The directory is not there or may not be written to, the file is not the data directory's, or the disk has less room.</exception>
    internal static FileMedium? Open(TierSettings settings, DataDirectory? data, long memoryLimitBytes)
    {
        if (settings.Path.Length == 0)
            return null;
        if (!OperatingSystem.IsLinux())
            throw new GarnetException(ExitKind.Configuration, "there is no tier on this system", "tier-path works on Linux only",
                "Start without it");
        if (!Directory.Exists(settings.Path))
            throw new GarnetException(ExitKind.Configuration, $"tier-path names no directory: {settings.Path}", File.Exists(settings.Path) ? "it is a file" : "it is not there",
                "Make it, on the disk that is to have the values, or name another");
        // What lies in memory is gone when the machine starts again: nothing may rely on it.
        bool isGone = FileMedium.IsMemory(settings.Path);
        if (isGone && data?.Manifest.Tier is { } kept)
            throw InMemory(settings.Path, kept);
        return data is null || isGone ? FileMedium.Make(settings.Path, settings.SizeBytes, settings.IoUring)
            : Keep(settings, data, memoryLimitBytes);
    }

    /// <summary>
    /// All that snapshots name has been found in the medium: its file has its room and its name, and is looked for there from now on. It is named before there is
    /// one: a file that nobody knows of would stay for ever.
    /// </summary>
    /// <exception cref="GarnetException">The disk has less room, or the file cannot be made.</exception>
    internal static void Settle(FileMedium medium, TierSettings settings, DataDirectory data)
    {
        medium.Reserve();
        if (medium.Id != 0)
            data.NameTier(new TierName(medium.Id, Path.GetFullPath(settings.Path)));
        medium.Settle();
    }

    private static FileMedium Keep(TierSettings settings, DataDirectory data, long memoryLimitBytes)
    {
        string path = Path.GetFullPath(settings.Path);
        int lanes = data.Manifest.Lanes, buckets = Store.IndexBucketsFor(memoryLimitBytes, lanes);
        FileMedium medium = FileMedium.Keep(path, IdFor(data, path), settings.SizeBytes, (ulong)buckets, settings.IoUring);
        return Judged(medium, HeadFault(path, medium.Note) ?? MemoryFault(path, medium.Note, lanes, memoryLimitBytes));
    }

    /// <summary>The file of the tier, to be read without a server; null if it is not there.</summary>
    /// <exception cref="GarnetException">It is another's, in use, or damaged.</exception>
    internal static FileMedium? Look(TierName tier) =>
        FileMedium.Look(tier.Path, tier.Id) is { } medium ? Judged(medium, HeadFault(tier.Path, medium.Note)) : null;

    private static FileMedium Judged(FileMedium medium, GarnetException? fault)
    {
        if (fault is null)
            return medium;
        medium.Dispose();
        throw fault;
    }

    private static GarnetException? HeadFault(string path, ulong note) =>
        note is >= 2 and <= IndexBucketsMax && System.Numerics.BitOperations.IsPow2(note) ? null
            : new GarnetException(ExitKind.Data, $"the tier's file cannot be used: {path}", "its head says what cannot be",
                "Put it back from where it was; nothing was changed");

    private static GarnetException? MemoryFault(string path, ulong note, int lanes, long memoryLimitBytes)
    {
        long needed = Store.IndexBytesMin((int)note, lanes) * IndexPart;
        return needed <= memoryLimitBytes || note <= (ulong)Store.IndexBucketsFor(memoryLimitBytes, lanes) ? null
            : new GarnetException(ExitKind.Configuration, $"the tier's file is for more memory than there is: {path}",
                $"its index alone takes {SettingText.PrintMemory(needed / IndexPart)}, and maxmemory is " +
                    SettingText.PrintMemory(memoryLimitBytes),
                $"Set maxmemory to {needed} bytes or more; nothing was changed");
    }

    private static GarnetException InMemory(string path, TierName kept) => new(
        ExitKind.Configuration, $"tier-path lies in memory (tmpfs): {path}",
        $"what is there is gone when the machine starts again, and the data directory has a tier that is kept, which was in {kept.Path}",
        "Set tier-path back, or to a directory on another disk and move the tier's file there; " +
            "for a tier in memory copy the data to a new server (REPLICAOF)");

    // One that lies elsewhere is not made anew here: it may hold what snapshots name.
    private static UInt128 IdFor(DataDirectory data, string path)
    {
        if (data.Manifest.Tier is not { } known)
            return BinaryPrimitives.ReadUInt128LittleEndian(Libc.RandomBytes(16)) | 1;
        if (known.Path == path || FileMedium.IsKept(path, known.Id) || !FileMedium.IsKept(known.Path, known.Id))
            return known.Id;
        throw new GarnetException(ExitKind.Configuration, $"tier-path is another than before: {path}",
            $"the tier's file is in {known.Path}", "Move the file there while no server runs, or set tier-path back");
    }

    /// <summary>Who writes trouble with a tier to the log.</summary>
    internal static ITierObserver ToldTo(ServerLog log) => new TierLines(log);

    /// <summary>What people should know of the tier from the start, and which of it is a warning.</summary>
    internal static IReadOnlyList<(bool IsWarning, string Text)> PlanOf(IMedium? medium, TierSettings settings)
    {
        if (medium?.Facts is not { } facts)
            return [];
        string size = SettingText.PrintMemory(settings.SizeBytes);
        string stays = medium is FileMedium { Note: 0 } ? "scratch, empty after a start" : "kept: a start goes on with it";
        string plan = $"Tier: {size} in {settings.Path}, read by {facts.Reading}; for what nobody reads; {stays}";
        string? trouble = facts.IsMemory ? "lies in memory (tmpfs): what goes to the tier frees none; name a directory on an SSD (tier-path)"
            : facts.IsDirect ? null
            : "is on a file system without direct I/O: the system's cache holds what is on the tier a second time; ext4 and xfs have it";
        return trouble is null ? [(false, plan)] : [(false, plan), (true, $"{settings.Path} {trouble}")];
    }
}
