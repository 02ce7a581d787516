using Garnet.Aof;
using Garnet.Aof.Format;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>Where data is kept, when it is forced to disk, when snapshots are taken. Without <c>dir</c> nothing is written.</summary>
public sealed partial class PersistenceSettings
{
    private string _directory = Environment.CurrentDirectory;

    private const string OwnNames = "Files are named as website/docs/format/aof.md says.";

    [Setting("dir", "Directory of data; given one, the append-only file is on unless appendonly is no.", Protected = true)]
    public string Directory
    {
        get => _directory;
        // as redis, whose process goes there: it means the same wherever it is read
        set => _directory = value.Length == 0 ? value : Path.GetFullPath(value);
    }

    [Setting("dbfilename", "RDB file in dir that is imported into a directory without data. Snapshots have names of their own.", Live = true, Protected = true)]
    public string ImportFile { get; set; } = "dump.rdb";

    [Setting("save", "When to take snapshots: pairs of seconds and changes.", Live = true)]
    public SaveRules Save { get; set; } = SaveRules.None;

    [Setting("appendonly", "Keeps an append-only file; yes without dir keeps it in the working directory.")]
    public bool AppendOnly { get; set; }

    [Setting("appendfsync", "When the append-only file is forced to disk: before replies, once a second, or when the system likes.", Values = "everysec always no", Live = true)]
    public AppendSync AppendSync { get; set; }

    [Setting("aof-durable-reads", "Replies to reads wait as well until all they show is kept as appendfsync promises: with always, nobody sees what a power cut could take back.")]
    public bool DurableReads { get; set; }

    [Setting("appendfilename", "File name of the append-only file.", Note = OwnNames)]
    public string AppendFile { get; set; } = "appendonly.aof";

    [Setting("appenddirname", "Directory of append-only file and snapshots, inside dir.")]
    public string AppendDirectory { get; set; } = "appendonlydir";

    [Setting("auto-aof-rewrite-percentage", "Takes a snapshot when the append-only file has grown by this share of the last one; 0 = never.", Min = 0, Max = 1_000_000, Unit = SettingUnit.Percent, Live = true)]
    public int RewritePercentage { get; set; } = 100;

    [Setting("auto-aof-rewrite-min-size", "The append-only file must have grown by so much before a snapshot is taken to shorten it.", Min = 0, Unit = SettingUnit.Bytes, Live = true)]
    public long RewriteBytesMin { get; set; } = 64 << 20;

    [Setting("aof-sublogs", "Files that the append-only file is written to at the same time; 0 = one up to 4 cores, a quarter of the cores above.", Min = 0, Max = 16, Unit = SettingUnit.Count)]
    public int Sublogs { get; set; }

    [Setting("aof-pm-path", "File in persistent memory (a file system mounted with DAX) in which the append-only file is durable, "
        + "with appendfsync always, before it is on the disk; empty: it is synced there.", Protected = true)]
    public string MemoryFile { get; set; } = "";

    [Setting("pm-emulated-trust", "Takes the file of aof-pm-path for persistent memory where the system does not call it so: "
        + "a power cut takes what was acknowledged last if that is wrong.", Protected = true)]
    public bool TrustsEmulated { get; set; }

    [Setting("aof-segment-size", "Room set aside at once for each file of the append-only file.", Min = 1 << 20, Max = 1L << 34, Unit = SettingUnit.Bytes)]
    public long SegmentBytes { get; set; } = 64 << 20;

    [Setting("aof-staging-memory", "Memory for changes that are not on disk yet; when it is used up, writes wait.", Min = 1 << 20, Max = 1L << 36, Unit = SettingUnit.Bytes)]
    public long StagingBytesMax { get; set; } = 64 << 20;

    [Setting("aof-step-max-size", "Most bytes of the append-only file that one step (a command, a transaction, a script) may take; the command that would make it longer is refused before it changes anything.", Min = LogLimits.StepBytesMaxLeast, Max = LogLimits.StepBytesMaxMost, Unit = SettingUnit.Bytes, Live = true)]
    public long StepBytesMax { get; set; } = LogLimits.StepBytesMaxDefault;

    [Setting("aof-on-corruption", "What to do if the append-only file is damaged before its end: refuse the start, or cut it there and keep the damaged files aside.", Values = "refuse truncate")]
    public CorruptionPolicy OnCorruption { get; set; }
}
