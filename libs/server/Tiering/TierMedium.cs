using Garnet.Common;
using Garnet.Media;

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
}
