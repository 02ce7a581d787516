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
    private const int IndexBucketBitsMax = 16;
    /// <summary>A file may have been made under a larger maxmemory; what its index takes at least leaves this part to the data.</summary>
    private const int IndexPart = 2;

    // What the note in a file's head may be.
    private static IEnumerable<ulong> IndexBuckets => Enumerable.Range(1, IndexBucketBitsMax).Select(static bits => 1UL << bits);

    /// <summary>
    /// The medium; null without a tier. Where there is a data directory, its files are that directory's, and snapshots may name what lies in them; the index that goes
    /// with <paramref name="memoryLimitBytes"/> is noted in them, since the names go by it. Nothing that was there is changed before <see cref="Settle"/>.
    /// </summary>
    /// <exception cref="GarnetException">A directory is not there or may not be written to, a file is not the data directory's, or a disk has less room.</exception>
    internal static LayeredMedium? Open(TierSettings settings, DataDirectory? data, long memoryLimitBytes)
    {
        string[] paths = Array.FindAll([settings.Path, settings.PmPath], static path => path.Length > 0);
        if (paths.Length == 0)
            return null;
        if (!OperatingSystem.IsLinux())
            throw new GarnetException(ExitKind.Configuration, "there is no tier on this system", "tier-path works on Linux only",
                "Start without it");
        ExpectDirectory(settings.Path, KeptPart.Disk, "Make it, on the disk that is to have the values, or name another");
        ExpectDirectory(settings.PmPath, KeptPart.Memory, "Make it, on a file system that is mounted with DAX, or name another");
        if (paths.Length == 2 && settings.SizeBytes > LayeredMedium.PartBytesMax)
            throw TooLarge(settings);
        // What lies in memory is gone when the machine starts again: nothing may rely on it.
        string? gone = Array.Find(paths, FileMedium.IsMemory);
        if (gone is not null && data?.Manifest.Tier is { } kept)
            throw InMemory(gone, gone == settings.Path ? KeptPart.Disk : KeptPart.Memory, kept);
        return data is null || gone is not null ? Make(settings) : Keep(settings, data, memoryLimitBytes);
    }

    /// <summary>
    /// All that snapshots name has been found in the medium: its files have their room and their names, and are looked for there from now on. They are named before there is
    /// one: a file that nobody knows of would stay for ever.
    /// </summary>
    /// <exception cref="GarnetException">A disk has less room, or a file cannot be made.</exception>
    internal static void Settle(LayeredMedium medium, TierSettings settings, DataDirectory data)
    {
        medium.Reserve();
        if (!medium.Id.IsNone)
            data.NameTier(new TierName(medium.Id, FullPath(settings.Path), FullPath(settings.PmPath)));
        medium.Settle();
    }

    private static string FullPath(string path) => path.Length == 0 ? "" : Path.GetFullPath(path);

    private static void ExpectDirectory(string path, KeptPart part, string next)
    {
        if (path.Length == 0 || Directory.Exists(path))
            return;
        (ExitKind kind, string why) = WhyNone(path);
        throw new GarnetException(kind, $"{part.PathSetting} names no directory: {path}", why, next);
    }

    private static (ExitKind Kind, string Why) WhyNone(string path)
    {
        try
        {
            _ = File.GetAttributes(path);
            return (ExitKind.Configuration, "it is a file");
        }
        catch (UnauthorizedAccessException)
        {
            return (ExitKind.Permission, "a directory on the way to it may not be entered");
        }
        catch (IOException)
        {
            return (ExitKind.Configuration, "it is not there");
        }
    }

    private static LayeredMedium Make(TierSettings settings) => Layered(
        () => settings.Path.Length == 0 ? null : FileMedium.Make(settings.Path, settings.SizeBytes, settings.IoUring),
        _ => settings.PmPath.Length == 0 ? null
            : FileMedium.Make(settings.PmPath, settings.PmSizeBytes + PmMedium.MoreBytes, mayRing: false, KeptPart.Memory),
        settings.PmPath, settings.Before);

    private static LayeredMedium Keep(TierSettings settings, DataDirectory data, long memoryLimitBytes)
    {
        string path = FullPath(settings.Path), pmPath = FullPath(settings.PmPath);
        MediumId id = IdFor(data, path, pmPath);
        int lanes = data.Manifest.Lanes, buckets = Store.IndexBucketsFor(memoryLimitBytes, lanes);
        GarnetException? Fault(string at, ulong note) => HeadFault(at, note) ?? MemoryFault(at, note, lanes, memoryLimitBytes);
        return Layered(
            () => path.Length == 0 ? null
                : Judged(FileMedium.Keep(path, id, settings.SizeBytes, (ulong)buckets, settings.IoUring), file => Fault(path, file.Note)),
            disk => pmPath.Length == 0 ? null : Judged(FileMedium.Keep(
                pmPath, id, settings.PmSizeBytes + PmMedium.MoreBytes, disk?.Note ?? (ulong)buckets, mayRing: false, KeptPart.Memory),
                file => Fault(pmPath, file.Note) ?? (disk is null || disk.Note == file.Note ? null : OtherHead(pmPath))), pmPath);
    }

    /// <summary>What is there of the tier, to be read without a server; null if nothing is.</summary>
    /// <exception cref="GarnetException">A file is another's, in use, or damaged.</exception>
    internal static LayeredMedium? Look(TierName tier)
    {
        bool hasDisk = FileMedium.IsKept(tier.Path, tier.Id), hasMemory = FileMedium.IsKept(tier.MemoryPath, tier.Id, KeptPart.Memory);
        return !hasDisk && !hasMemory ? null : Layered(
            () => hasDisk ? Judged(FileMedium.Look(tier.Path, tier.Id)!, file => HeadFault(tier.Path, file.Note)) : null,
            _ => !hasMemory ? null
                : Judged(FileMedium.Look(tier.MemoryPath, tier.Id, KeptPart.Memory)!, file => HeadFault(tier.MemoryPath, file.Note)),
            tier.MemoryPath);
    }

    /// <summary>The parts of a tier whose heads are damaged, and can be made what they were.</summary>
    /// <exception cref="GarnetException">A file is in use, or cannot be opened.</exception>
    internal static IReadOnlyList<(string Path, KeptPart Part)> HeadsToMend(TierName tier) =>
    [
        .. new[] { (tier.Path, KeptPart.Disk), (tier.MemoryPath, KeptPart.Memory) }
            .Where(file => file.Item1.Length > 0 && FileMedium.CanMendHead(file.Item1, tier.Id, file.Item2, IndexBuckets)),
    ];

    /// <summary>Makes such a head what it was; <paramref name="keep"/> is given the block as it is.</summary>
    /// <exception cref="GarnetException">The file is in use, or cannot be written.</exception>
    internal static void MendHead(TierName tier, (string Path, KeptPart Part) file, Action<byte[]> keep) =>
        FileMedium.MendHead(file.Path, tier.Id, file.Part, IndexBuckets, keep);

    private static LayeredMedium Layered(
        Func<FileMedium?> openDisk, Func<FileMedium?, FileMedium?> openMemory, string memoryPath, Func<IMedium, IMedium>? before = null)
    {
        FileMedium? disk = openDisk();
        try
        {
            IMedium? whole = disk is null || before is null ? disk : before(disk);
            return new LayeredMedium(whole, openMemory(disk) is { } file ? PmMedium.Over(file, memoryPath) : null);
        }
        catch
        {
            disk?.Dispose();
            throw;
        }
    }

    private static FileMedium Judged(FileMedium medium, Func<FileMedium, GarnetException?> judge)
    {
        if (judge(medium) is not { } fault)
            return medium;
        medium.Dispose();
        throw fault;
    }

    private static GarnetException OtherHead(string path) => new(ExitKind.Data, $"the tier's file cannot be used: {path}",
        "it was made for another index than the one on the disk", "Put it back from where it was; nothing was changed");

    private static GarnetException? HeadFault(string path, ulong note) =>
        IndexBuckets.Contains(note) ? null
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

    private static GarnetException InMemory(string path, KeptPart part, TierName kept) => new(
        ExitKind.Configuration, $"{part.PathSetting} lies in memory (tmpfs): {path}",
        "what is there is gone when the machine starts again, and the data directory has a tier that is kept, which was in "
            + PlacesOf(kept),
        $"Set {part.PathSetting} back, or to a directory on another disk and move the tier's file there; " +
            "for a tier in memory copy the data to a new server (REPLICAOF)");

    private static GarnetException TooLarge(TierSettings settings) => new(
        ExitKind.Configuration, "tier-size is more than a disk may have beside persistent memory (tier-pm-path)",
        $"it is {SettingText.PrintMemory(settings.SizeBytes)}, and the most is "
            + SettingText.PrintMemory(LayeredMedium.PartBytesMax),
        $"Set tier-size to {LayeredMedium.PartBytesMax} bytes or less, or leave tier-pm-path out; nothing was changed");

    private static string PlacesOf(TierName kept) =>
        string.Join(" and ", new[] { kept.Path, kept.MemoryPath }.Where(static path => path.Length > 0));

    // One that lies elsewhere is not made anew here: it may hold what snapshots name.
    private static MediumId IdFor(DataDirectory data, string path, string pmPath)
    {
        if (data.Manifest.Tier is not { } known)
            return MediumId.New();
        ExpectPlace(known.Id, known.Path, path, KeptPart.Disk);
        ExpectPlace(known.Id, known.MemoryPath, pmPath, KeptPart.Memory);
        return known.Id;
    }

    private static void ExpectPlace(MediumId id, string known, string path, KeptPart part)
    {
        if (known.Length == 0 || known == path || known == TierName.UnknownPath)
            return;
        if (path.Length == 0)
            throw new GarnetException(ExitKind.Configuration, $"the tier has a part that {part.PathSetting} does not name",
                $"its file was in {known}",
                $"Set {part.PathSetting} to where the file is; for a tier without it copy the data to a new server (REPLICAOF)");
        if (!FileMedium.IsKept(path, id, part) && FileMedium.IsKept(known, id, part))
            throw new GarnetException(ExitKind.Configuration, $"{part.PathSetting} is another than before: {path}",
                $"the tier's file is in {known}", $"Move the file there while no server runs, or set {part.PathSetting} back");
    }

    /// <summary>Who writes trouble with a tier to the log.</summary>
    internal static ITierObserver ToldTo(ServerLog log) => new TierLines(log);

    /// <summary>What people should know of the tier from the start, and which of it is a warning.</summary>
    internal static IReadOnlyList<(bool IsWarning, string Text)> PlanOf(LayeredMedium? medium, TierSettings settings)
    {
        if (medium is null)
            return [];
        bool isInMemory = medium.Disk is { Facts.IsMemory: true } || medium.Memory is { Facts.IsMemory: true };
        string stays = medium.Note != 0 ? "kept: a start goes on with it"
            : "emptied at each start, as " + (isInMemory ? "it lies in memory" : "there is no --dir");
        List<(bool IsWarning, string Text)> plan = [];
        if (medium.Memory is { Facts: var memory })
        {
            string size = SettingText.PrintMemory(settings.PmSizeBytes);
            string next = medium.Disk is null ? "" : ", and goes on to the disk when that is short";
            plan.Add((false, $"Tier: {size} of persistent memory in {settings.PmPath}, read {memory.Reading}; "
                + $"for what nobody reads{next}; {stays}"));
            plan.AddRange(TroubleOf(memory, settings.PmPath, KeptPart.Memory,
                "is no persistent memory to the system (no DAX): the system's cache holds what is on the tier a second time"));
        }
        if (medium.Disk is { Facts: var disk })
        {
            string size = SettingText.PrintMemory(settings.SizeBytes);
            plan.Add((false, $"Tier: {size} in {settings.Path}, read by {disk.Reading}; for what nobody reads; {stays}"));
            plan.AddRange(TroubleOf(disk, settings.Path, KeptPart.Disk,
                "is on a file system without direct I/O: the system's cache holds what is on the tier a second time; "
                    + "ext4 and xfs have it"));
        }
        return plan;
    }

    private static IEnumerable<(bool IsWarning, string Text)> TroubleOf(MediumFacts facts, string path, KeptPart part, string indirect)
    {
        if (facts.IsMemory)
            yield return (true,
                $"{path} lies in memory (tmpfs): what goes to the tier frees none; name another directory ({part.PathSetting})");
        else if (!facts.IsDirect)
            yield return (true, $"{path} {indirect}");
    }
}
