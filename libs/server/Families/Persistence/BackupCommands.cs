using System.Globalization;
using Garnet.Server.Backups;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Persistence;

/// <summary>Backups on request, and what there are: BACKUP NOW, LIST, STATUS.</summary>
internal static class BackupCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("BACKUP", -2, CommandFlags.Admin, "Takes backups, and tells of them."));
        table.Add<BackupNow>();
        table.Add<BackupList>();
        table.Add<BackupStatus>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string summary) =>
        new(name, arity, flags) { Group = "server", Summary = summary, Since = "0.1.0" };

    /// <summary>A moment as people and programs read it; empty for none.</summary>
    internal static string Moment(long unixMs) => unixMs == 0 ? ""
        : DateTimeOffset.FromUnixTimeMilliseconds(unixMs).UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);
}

internal readonly struct BackupNow : ICommand
{
    public static CommandSpec Spec => BackupCommands.Spec("BACKUP|NOW", 2, CommandFlags.Admin | CommandFlags.NoScript, "Starts a backup.");

    public static Reply Run(ref Call call)
    {
        switch (call.Server.Backups.TryStart())
        {
            case BackupStart.NoPath:
                return call.FailBytes("ERR no directory for backups is set: start this server with --backup-path"u8);
            case BackupStart.Running:
                return call.FailBytes("ERR Background backup already in progress"u8);
            case BackupStart.NotNow:
                return call.FailBytes("ERR this server is getting all its data, or stops: it has none to back up"u8);
            default:
                call.Out.Simple("Background backup started"u8);
                return Reply.Sent;
        }
    }
}

/// <summary>BACKUP LIST: the backups in the directory, the newest first, as of the last look at it: no reactor waits for a disk.</summary>
internal readonly struct BackupList : ICommand
{
    public static CommandSpec Spec => BackupCommands.Spec("BACKUP|LIST", 2, CommandFlags.Admin | CommandFlags.Loading | CommandFlags.Stale,
        "Lists the backups that are kept, the newest first.") with { Complexity = "O(N) where N is the number of backups." };

    public static Reply Run(ref Call call)
    {
        IReadOnlyList<StoredBackup> known = call.Server.Backups.Known;
        call.Out.Array(known.Count);
        foreach (StoredBackup one in known)
        {
            call.Out.Map(5);
            call.Out.Bulk("name"u8);
            call.Out.Bulk(one.Name.ToString());
            call.Out.Bulk("bytes"u8);
            call.Out.Int(one.Bytes);
            call.Out.Bulk("created"u8);
            call.Out.Bulk(BackupCommands.Moment(one.Header.CreatedMs));
            call.Out.Bulk("keys"u8);
            call.Out.Int(one.Trailer.Keys);
            call.Out.Bulk("encrypted"u8);
            call.Out.Int(one.Header.IsEncrypted ? 1 : 0);
        }

        return Reply.Sent;
    }
}

internal readonly struct BackupStatus : ICommand
{
    public static CommandSpec Spec => BackupCommands.Spec("BACKUP|STATUS", 2, CommandFlags.Admin | CommandFlags.Loading | CommandFlags.Stale,
        "Tells whether a backup is being taken, and how the last one went.");

    public static Reply Run(ref Call call)
    {
        BackupJob backups = call.Server.Backups;
        BackupSettings settings = call.Server.Settings.Backups;
        call.Out.Map(9);
        call.Out.Bulk("state"u8);
        call.Out.Bulk(backups.Phase);
        call.Out.Bulk("running_seconds"u8);
        call.Out.Int(backups.IsRunning ? Math.Max(call.NowMs - backups.BeganMs, 0) / 1000 : 0);
        call.Out.Bulk("path"u8);
        call.Out.Bulk(backups.Path);
        call.Out.Bulk("every"u8);
        call.Out.Int(settings.EverySeconds);
        call.Out.Bulk("keep"u8);
        call.Out.Int(settings.Keep);
        call.Out.Bulk("encrypts"u8);
        call.Out.Int(settings.KeyFile.Length > 0 ? 1 : 0);
        call.Out.Bulk("backups"u8);
        call.Out.Int(backups.Known.Count);
        call.Out.Bulk("last_ok"u8);
        call.Out.Bulk(BackupCommands.Moment(backups.LastOkMs));
        call.Out.Bulk("last_error"u8);
        call.Out.Bulk(backups.LastError);
        return Reply.Sent;
    }
}
