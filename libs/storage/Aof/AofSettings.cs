using Garnet.Aof.Format;

namespace Garnet.Aof;

/// <summary>What the append-only file needs to know. <see cref="Sync"/> may change while it runs, all else before the start.</summary>
public sealed class AofSettings
{
    /// <summary>Most sublogs there may be.</summary>
    public const int SublogsMax = 16;
    private long _stepBytesMax = LogLimits.StepBytesMaxDefault;
    private volatile SyncPolicy _sync = SyncPolicy.EverySecond;

    /// <summary>Files written side by side, 1 to <see cref="SublogsMax"/>; 0 = 1 up to four cores, a quarter of the cores above.</summary>
    public int Sublogs { get; set; }

    /// <summary>When written batches are made durable.</summary>
    public SyncPolicy Sync
    {
        get => _sync;
        set => _sync = value;
    }

    /// <summary>Bytes a segment file is created with; one that must hold a larger batch is larger.</summary>
    public long SegmentBytes { get; set; } = 64 << 20;

    /// <summary>Bytes that may wait for the disk before <see cref="AppendOnlyLog.IsFull"/> asks writers to wait.</summary>
    public long StagingBytesMax { get; set; } = 64 << 20;

    /// <summary>Bytes of entries that one step may write; a longer one is refused before it changes anything. At most <see cref="LogLimits.StepBytesMaxMost"/>.</summary>
    public long StepBytesMax
    {
        get => Volatile.Read(ref _stepBytesMax);
        set => Volatile.Write(ref _stepBytesMax, Math.Min(value, LogLimits.StepBytesMaxMost));
    }

    /// <summary>Least time between two batches that somebody waits for, microseconds; bounds what closing them costs.</summary>
    public int SealMinUs { get; set; } = 100;

    /// <summary>A batch that grows beyond this many bytes is closed without further delay.</summary>
    public int BatchBytes { get; set; } = 1 << 20;

    /// <summary>
    /// Time between two batches that nobody waits for, milliseconds: what a killed process loses under everysec and no.
    /// Each batch takes 4 KiB of the file at least, so a trickle of writes fills 80 KiB of it a second, not 400 as at 10 ms.
    /// </summary>
    public int LazySealMs { get; set; } = 50;

    /// <summary>The number of sublogs that <see cref="Sublogs"/> stands for on this machine.</summary>
    internal int SublogCount => Math.Clamp(Sublogs != 0 ? Sublogs : Environment.ProcessorCount / 4, 1, SublogsMax);
}
