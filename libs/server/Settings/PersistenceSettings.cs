using Garnet.Common;

namespace Garnet.Server;

/// <summary>Where data will be kept. The server is in memory only so far: these are read, kept and reported, not acted on.</summary>
public sealed class PersistenceSettings
{
    private const string NotYet = "There is no persistence yet; the value is kept and has no effect.";

    [Setting("dir", "Directory of data files.", Live = true, Protected = true, Note = NotYet)]
    public string Directory { get; set; } = Environment.CurrentDirectory;

    [Setting("dbfilename", "File name of snapshots.", Live = true, Protected = true, Note = NotYet)]
    public string SnapshotFile { get; set; } = "dump.rdb";

    [Setting("save", "Snapshot rules: pairs of seconds and changes.", Live = true, Note = NotYet)]
    public SaveRules Save { get; set; } = SaveRules.None;

    [Setting("appendonly", "Keeps an append-only file.", Live = true, Only = "no",
        Why = "there is no persistence yet, data would be lost at a restart; remove the setting to run in memory")]
    public bool AppendOnly { get; set; }

    [Setting("appendfsync", "When the append-only file is forced to disk.", Values = "everysec always no", Live = true, Note = NotYet)]
    public AppendSync AppendSync { get; set; }

    [Setting("appendfilename", "File name of the append-only file.", Note = NotYet)]
    public string AppendFile { get; set; } = "appendonly.aof";

    [Setting("appenddirname", "Directory of the append-only file, inside dir.", Note = NotYet)]
    public string AppendDirectory { get; set; } = "appendonlydir";
}
