namespace Garnet.Types.Collections;

/// <summary>Sizes up to which a collection is packed, and up to which it counts as small for OBJECT ENCODING.</summary>
public readonly record struct CollectionLimits(long EntriesMax, long ValueBytesMax, long PackedBytesMax)
{
    /// <summary>Entries searched one by one cost more than a chunk from about here on.</summary>
    public const int PackedEntriesMax = 128;

    /// <summary>What holds while a log is read back: names do not change by themselves.</summary>
    public static readonly CollectionLimits Replay = new(long.MaxValue, long.MaxValue, EncodingSettings.PackedBytesDefault);

    /// <summary>Those of sets that are set.</summary>
    public static CollectionLimits OfSets(EncodingSettings settings) =>
        new(settings.SetEntriesMax, settings.SetValueBytesMax, settings.PackedBytesMax);

    /// <summary>Those of hashes.</summary>
    public static CollectionLimits OfHashes(EncodingSettings settings) =>
        new(settings.HashEntriesMax, settings.HashValueBytesMax, settings.PackedBytesMax);

    /// <summary>Those of sorted sets.</summary>
    public static CollectionLimits OfSortedSets(EncodingSettings settings) =>
        new(settings.SortedSetEntriesMax, settings.SortedSetValueBytesMax, settings.PackedBytesMax);

    /// <summary>True if the entry or so many of them pass the threshold of the small form's name.</summary>
    public bool Exceeds(in Entry parts, long count) =>
        count > EntriesMax || parts.KeyBytes > ValueBytesMax || parts.ValueBytes > ValueBytesMax;
}
