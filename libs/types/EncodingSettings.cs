using Garnet.Common;

namespace Garnet.Types;

/// <summary>Sizes up to which a collection counts as small; OBJECT ENCODING answers by them, <c>collection-packed-bytes</c> decides.</summary>
public sealed partial class EncodingSettings
{
    public const int PackedBytesDefault = 1024, PackedBytesLimit = 65_536;

    [Setting("collection-packed-bytes",
        "Bytes up to which a collection lies in one record; a larger one is divided into chunks. A sorted set, which chunks hold " +
        "twice: up to four times as many.",
        Unit = SettingUnit.Bytes, Min = 0, Max = PackedBytesLimit, Live = true)]
    public long PackedBytesMax { get; set; } = PackedBytesDefault;

    [Setting("hash-max-listpack-entries", "Fields up to which a hash counts as a listpack.", Aliases = "hash-max-ziplist-entries",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long HashEntriesMax { get; set; } = 512;

    [Setting("hash-max-listpack-value", "Bytes of a field or value up to which a hash counts as a listpack.",
        Aliases = "hash-max-ziplist-value", Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long HashValueBytesMax { get; set; } = 64;

    [Setting("list-max-listpack-size", "Size of a list node: entries if positive, -1 to -5 for 4 to 64 KiB.",
        Aliases = "list-max-ziplist-size", Unit = SettingUnit.Count, Min = int.MinValue, Max = int.MaxValue, Live = true)]
    public int ListNodeSize { get; set; } = -2;

    [Setting("list-compress-depth", "Nodes at each end of a list that are not compressed; 0 compresses none.",
        Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true, Note = "Lists are not compressed.")]
    public int ListCompressDepth { get; set; }

    [Setting("set-max-intset-entries", "Members up to which a set of integers counts as an intset.",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long SetIntegersMax { get; set; } = 512;

    [Setting("set-max-listpack-entries", "Members up to which a set counts as a listpack.",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long SetEntriesMax { get; set; } = 128;

    [Setting("set-max-listpack-value", "Bytes of a member up to which a set counts as a listpack.",
        Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long SetValueBytesMax { get; set; } = 64;

    [Setting("zset-max-listpack-entries", "Members up to which a sorted set counts as a listpack.",
        Aliases = "zset-max-ziplist-entries", Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long SortedSetEntriesMax { get; set; } = 128;

    [Setting("zset-max-listpack-value", "Bytes of a member up to which a sorted set counts as a listpack.",
        Aliases = "zset-max-ziplist-value", Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long SortedSetValueBytesMax { get; set; } = 64;

    [Setting("hll-sparse-max-bytes", "Bytes up to which a HyperLogLog stays sparse.", Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long HyperLogLogSparseBytesMax { get; set; } = 3000;

    [Setting("stream-node-max-bytes", "Bytes of one node of a stream; 0 for no limit.", Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long StreamNodeBytesMax { get; set; } = 4096;

    [Setting("stream-node-max-entries", "Entries of one node of a stream; 0 for no limit.",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long StreamNodeEntriesMax { get; set; } = 100;

    [Setting("stream-idmp-duration", "How long a stream remembers what producers have sent, unless XCFGSET says otherwise.",
        Unit = SettingUnit.Seconds, Min = 1, Max = 86_400, Live = true)]
    public long StreamProducerSeconds { get; set; } = 100;

    [Setting("stream-idmp-maxsize", "Entries per producer that a stream remembers, unless XCFGSET says otherwise.",
        Unit = SettingUnit.Count, Min = 1, Max = 10_000, Live = true)]
    public long StreamProducerNamesMax { get; set; } = 100;
}
