namespace Garnet.Types.Lists;

/// <summary>Sizes up to which a list is packed, and up to which it counts as small for OBJECT ENCODING.</summary>
public readonly record struct ListLimits(long EntriesMax, long BytesMax, long PackedBytesMax)
{
    public static readonly ListLimits Replay = new(long.MaxValue, long.MaxValue, EncodingSettings.PackedBytesDefault);

    /// <summary>The limits that list-max-listpack-size means: entries if positive, else 4 to 64 KiB.</summary>
    public static ListLimits Of(EncodingSettings settings) => settings.ListNodeSize >= 0
        ? new ListLimits(settings.ListNodeSize, long.MaxValue, settings.PackedBytesMax)
        : new ListLimits(long.MaxValue, 2048L << Math.Min(-settings.ListNodeSize, 5), settings.PackedBytesMax);
}
