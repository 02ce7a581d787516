using Garnet.Aof.Disk;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>Backups: all data of one moment in one file, which a server can be restored from.</summary>
public sealed partial class BackupSettings
{
    private const int YearSeconds = 366 * 24 * 3600;

    [Setting("backup-path", "Directory for backups, which must be there and is this server's alone; empty for none.", Protected = true)]
    public string Path { get; set; } = "";

    [Setting("backup-every", "Seconds from one backup to the next; 0 = only by BACKUP NOW.", Min = 0, Max = YearSeconds, Unit = SettingUnit.Seconds, Live = true)]
    public int EverySeconds { get; set; }

    [Setting("backup-keep", "How many backups are kept; the oldest goes once a newer one has been verified.", Min = 1, Max = 100_000, Unit = SettingUnit.Count, Live = true)]
    public int Keep { get; set; } = 7;

    [Setting("backup-key-file", "File with the key that backups are encrypted with, 32 bytes or 64 hexadecimal digits; empty: they are not.", Live = true, Protected = true)]
    public string KeyFile { get; set; } = "";

    /// <summary>What tests put before the disk; null: nothing.</summary>
    internal Func<IDisk, IDisk>? Before { get; set; }
}
