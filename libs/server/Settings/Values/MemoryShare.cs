using System.Globalization;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>An amount of memory given as bytes or as a percentage of another amount.</summary>
public sealed record MemoryShare(long Bytes, int Percent) : ISettingValue
{
    public static MemoryShare None { get; } = new(0, 0);

    public string Text => Percent > 0 ? $"{Percent}%" : Bytes.ToString(CultureInfo.InvariantCulture);

    public bool LinesAdd => false;

    /// <summary>The amount in bytes; 0 for no limit.</summary>
    public long Of(long totalBytes) => Percent > 0 ? (totalBytes / 100 * Percent) + (totalBytes % 100 * Percent / 100) : Bytes;

    public ISettingValue? Parse(string text, out string error)
    {
        error = "argument must be a memory or percent value";
        if (!text.EndsWith('%'))
            return SettingText.TryMemory(text, out long bytes) ? new MemoryShare(bytes, 0) : null;
        if (!SettingText.TryInteger(text.AsSpan(..^1), out long percent) || percent < 0)
            return null;
        error = "percentage argument must be less or equal to 100";
        return percent > 100 ? null : new MemoryShare(0, (int)percent);
    }
}
