using Garnet.Common;
using Garnet.Media;
using Tsavorite;

namespace Garnet.Server;

/// <summary>Where values go that nobody reads when memory gets short.</summary>
public sealed partial class TierSettings
{
    [Setting("tier-path", "Directory on an SSD for values that nobody reads; empty keeps all of them in memory. With dir its file belongs to the data directory, and a start goes on with it; else it is scratch.")]
    public string Path { get; set; } = "";

    [Setting("tier-size", "Room on it for values; set aside at the start.", Unit = SettingUnit.Bytes, Min = 16 << 20, Max = 1L << 40)]
    public long SizeBytes { get; set; } = 8L << 30;

    [Setting("tier-pm-path", "Directory in persistent memory (ext4 or xfs, mounted with DAX) for values that nobody reads, "
        + "before they go to tier-path, or instead. As there, with dir its file belongs to the data directory.")]
    public string PmPath { get; set; } = "";

    [Setting("tier-pm-size", "Room in it for values; set aside at the start.", Unit = SettingUnit.Bytes, Min = 16 << 20,
        Max = LayeredMedium.PartBytesMax)]
    public long PmSizeBytes { get; set; } = 1L << 30;

    [Setting("tier-promotion", "Whether values that are read again on the tier come back to memory; observe counts those that would.",
        Values = "yes no observe", Live = true)]
    public TierPromotion Promotion { get; set; } = TierPromotion.Yes;

    [Setting("tier-write-rate",
        "Bytes a second that are written to the tier at most, for the sake of who else uses the disk; 0 for no limit.",
        Unit = SettingUnit.Bytes, Min = 0, Max = 1L << 40, Live = true)]
    public long WriteRateBytes { get; set; }

    [Setting("tier-write-per-day",
        "Bytes a day that are written to the tier at most, as an SSD's life is counted; a start begins with a day's worth; 0 for no limit.",
        Unit = SettingUnit.Bytes, Min = 0, Max = 1L << 50, Live = true)]
    public long WritePerDayBytes { get; set; }

    [Setting("tier-read-timeout",
        "How long a command waits for the tier's disk to answer; then its key answers an error, and others go on. "
            + "Above the seconds for which a disk itself tries to read a bad sector, below what people wait.",
        Unit = SettingUnit.Milliseconds, Min = 100, Max = 3_600_000, Live = true)]
    public long ReadTimeoutMs { get; set; } = Store.TierReadTimeoutMs;

    /// <summary>What tests put before the disk; null: nothing.</summary>
    internal Func<IMedium, IMedium>? Before { get; set; }
    [Setting("tier-io-uring", "Read by io_uring where the system has it; no reads by threads.")]
    public bool IoUring { get; set; } = true;
}
