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

    /// <summary>
    /// The medium; null without a tier. Where there is a data directory, the file is that directory's, and snapshots may name what lies in it;
    /// <paramref name="indexBuckets"/> are noted in it, since the names go by them.
    /// </summary>
    /// <exception cref="GarnetException">The directory is not there or may not be written to, the file is not the data directory's, or the disk has less room.</exception>
    internal static FileMedium? Open(TierSettings settings, DataDirectory? data, int indexBuckets)
    {
        if (settings.Path.Length == 0)
            return null;
        if (!OperatingSystem.IsLinux())
            throw new GarnetException(ExitKind.Configuration, "there is no tier on this system", "tier-path works on Linux only",
                "start without it");
        if (!Directory.Exists(settings.Path))
            throw new GarnetException(ExitKind.Configuration, $"tier-path names no directory: {settings.Path}", File.Exists(settings.Path) ? "it is a file" : "it is not there",
                "make it, on the disk that is to have the values, or name another");
        // What lies in memory is gone when the machine starts again: nothing may rely on it.
        bool isGone = FileMedium.IsMemory(settings.Path) && data?.Manifest.Tier is null;
        if (data is null || isGone)
            return FileMedium.Make(settings.Path, settings.SizeBytes, settings.IoUring);
        string path = Path.GetFullPath(settings.Path);
        UInt128 id = IdFor(data, path);
        data.NameTier(new TierName(id, path)); // before there is a file: one that nobody knows of would stay for ever
        return Judged(FileMedium.Keep(path, id, settings.SizeBytes, (ulong)indexBuckets, settings.IoUring), path);
    }

    /// <summary>The file of the tier, to be read without a server; null if it is not there.</summary>
    /// <exception cref="GarnetException">It is another's, in use, or damaged.</exception>
    internal static FileMedium? Look(TierName tier) => FileMedium.Look(tier.Path, tier.Id) is { } medium ? Judged(medium, tier.Path) : null;

    private static FileMedium Judged(FileMedium medium, string path)
    {
        if (medium.Note is >= 2 and <= IndexBucketsMax && System.Numerics.BitOperations.IsPow2(medium.Note))
            return medium;
        medium.Dispose();
        throw new GarnetException(ExitKind.Data, $"the tier's file cannot be used: {path}", "its head says what cannot be",
            "Put it back from where it was; nothing was changed");
    }

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
