using Garnet.Common;
using Garnet.Media;
using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>Opens what the settings say the tier lies on.</summary>
internal static class TierMedium
{
    /// <summary>The medium; null without a tier.</summary>
    /// <exception cref="GarnetException">The directory is not there or may not be written to, or the disk has less room.</exception>
    internal static IMedium? Open(TierSettings settings)
    {
        if (settings.Path.Length == 0)
            return null;
        if (!OperatingSystem.IsLinux())
            throw new GarnetException(ExitKind.Configuration, "there is no tier on this system", "tier-path works on Linux only",
                "start without it");
        if (!Directory.Exists(settings.Path))
            throw new GarnetException(ExitKind.Configuration, $"tier-path names no directory: {settings.Path}", File.Exists(settings.Path) ? "it is a file" : "it is not there",
                "make it, on the disk that is to have the values, or name another");
        return FileMedium.Make(settings.Path, settings.SizeBytes, settings.IoUring);
    }

    /// <summary>Who writes trouble with a tier to the log.</summary>
    internal static ITierObserver ToldTo(ServerLog log) => new TierLines(log);

    /// <summary>What people should know of the tier from the start, and which of it is a warning.</summary>
    internal static IReadOnlyList<(bool IsWarning, string Text)> PlanOf(IMedium? medium, TierSettings settings)
    {
        if (medium?.Facts is not { } facts)
            return [];
        string size = SettingText.PrintMemory(settings.SizeBytes);
        string plan = $"Tier: {size} in {settings.Path}, read by {facts.Reading}; for what nobody reads; scratch, empty after a start";
        string? trouble = facts.IsMemory ? "lies in memory (tmpfs): what goes to the tier frees none; name a directory on an SSD (tier-path)"
            : facts.IsDirect ? null
            : "is on a file system without direct I/O: the system's cache holds what is on the tier a second time; ext4 and xfs have it";
        return trouble is null ? [(false, plan)] : [(false, plan), (true, $"{settings.Path} {trouble}")];
    }
}
