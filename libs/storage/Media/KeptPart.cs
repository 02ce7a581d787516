namespace Garnet.Media;

/// <summary>Which part of a tier a file is: what its name ends with, and the settings that place it, for messages.</summary>
/// <param name="Ending">Behind the owner's id.</param>
/// <param name="PathSetting">Names the directory.</param>
/// <param name="SizeSetting">Names its size.</param>
public sealed record KeptPart(string Ending, string PathSetting, string SizeSetting)
{
    /// <summary>Its name, by its owner's id.</summary>
    public string FileName(MediumId id) => $"tier-{id}{Ending}";

    /// <summary>The one on a disk.</summary>
    public static KeptPart Disk { get; } = new("", "tier-path", "tier-size");

    /// <summary>The one in persistent memory.</summary>
    public static KeptPart Memory { get; } = new(".pm", "tier-pm-path", "tier-pm-size");
}
