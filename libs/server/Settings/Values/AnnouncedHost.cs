using Garnet.Common;

namespace Garnet.Server;

/// <summary>A name or an address that others are told, empty for none: it stands in their logs and in lines of INFO.</summary>
public sealed record AnnouncedHost(string Text) : ISettingValue
{
    private const int LengthMax = 255;

    public static AnnouncedHost None { get; } = new("");

    public bool LinesAdd => false;

    /// <summary>True if the text may name a host: visible characters, no blank.</summary>
    internal static bool IsHost(string text) => text.Length is > 0 and <= LengthMax && !text.AsSpan().ContainsAnyExceptInRange('!', '~');

    public ISettingValue? Parse(string text, out string error)
    {
        error = "a host has 1 to 255 visible characters and no blank";
        return text.Length == 0 || IsHost(text) ? new AnnouncedHost(text) : null;
    }
}
