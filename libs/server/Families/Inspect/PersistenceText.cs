using Garnet.Aof;
using Garnet.Aof.Snapshots;
using Garnet.Common.Time;
using Garnet.Server.Backups;
using Garnet.Server.Persistence;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO persistence: the log, snapshots, and what is being loaded or saved.</summary>
internal readonly struct PersistenceText(InfoText info)
{
    internal static void Write(InfoText info) => new PersistenceText(info).Write();

    private void Write()
    {
        info.Section("Persistence");
        DataKeeper? keeper = info.Server.Keeper;
        SaveJob? saves = keeper?.Saves;
        bool runs = saves is { IsRunning: true };
        info.Field(KeepingFigures.Loading);
        info.Field("async_loading", 0);
        info.Field("garnet_writes_refused", info.Server.Refusals.Shown);
        Running(saves?.Progress);
        info.Fields(KeepingFigures.ChangesSinceSave, KeepingFigures.Saving, KeepingFigures.LastSave);
        info.Status(KeepingFigures.LastSaveGood);
        info.Fields(KeepingFigures.LastSaveTook, KeepingFigures.SavingFor, KeepingFigures.Saved, KeepingFigures.LogIsOn);
        info.Field("aof_rewrite_in_progress", runs ? 1 : 0);
        info.Field("aof_rewrite_scheduled", 0);
        info.Field("aof_last_rewrite_time_sec", KeepingFigures.LastSaveTook.Read(info.Moment)); // a snapshot is what a rewrite is there
        info.Field("aof_current_rewrite_time_sec", KeepingFigures.SavingFor.Read(info.Moment));
        info.Field("aof_last_bgrewrite_status", saves is { LastFailed: true } ? "err" : "ok");
        info.Status(KeepingFigures.LogIsGood);
        info.Field("aof_durability", keeper?.Guarantee ?? "none");
        if (keeper is not null)
            DataDirectory(keeper);
        if (info.Server.Backups is { Path.Length: > 0 } backups)
            Backups(backups);
    }

    // What a copy of the process costs there while others write, costs here what they save before they change it.
    private void Running(SnapshotProgress? saving)
    {
        long done = saving?.Records ?? 0, total = saving?.RecordsTotal ?? 0, saved = info.Figures.SnapshotBytes;
        info.Field("current_cow_peak", Math.Max(saving?.SavedBytesMax ?? 0, saved));
        info.Field(KeepingFigures.SnapshotBytes);
        info.Field("current_fork_perc", InfoText.Fraction(total == 0 ? 0 : 100.0 * done / total));
        info.Field("current_save_keys_processed", done);
        info.Field("current_save_keys_total", total);
    }

    private void DataDirectory(DataKeeper keeper)
    {
        if (keeper.Loading)
            Job("loading", keeper.Progress);
        if (keeper.Saves?.Progress is { } saving)
            Snapshot(saving);
        info.Field("garnet_data_directory", keeper.Directory);
        if (keeper.Trouble is { } trouble)
            info.Field("garnet_aof_trouble", trouble);
        if (keeper.Figures is null)
            return;
        info.Fields(KeepingFigures.LogBytes, KeepingFigures.StagedBytes, KeepingFigures.OpenBatch, KeepingFigures.DurableBatch);
        info.Fields(KeepingFigures.Entries, KeepingFigures.Syncs, KeepingFigures.SyncTook, KeepingFigures.Segments);
        if (keeper.Files.Disk.Memory?.Fill is not { } fill)
            return;
        info.Field("garnet_aof_ring_size", fill.Bytes);
        info.Field("garnet_aof_ring_used", fill.UsedBytes);
    }

    private void Backups(BackupJob backups)
    {
        info.Fields(KeepingFigures.BackingUp, KeepingFigures.LastBackup, KeepingFigures.FailedBackups, KeepingFigures.Backups);
        info.Field("garnet_backup_last_error", backups.LastError.ReplaceLineEndings(" "));
    }

    private void Snapshot(SnapshotProgress saving)
    {
        info.Field("garnet_snapshot_records", saving.Records);
        info.Field("garnet_snapshot_bytes", saving.Bytes);
        info.Field("garnet_snapshot_bytes_per_sec", saving.BytesPerSecond);
        info.Field("garnet_snapshot_left_seconds", saving.LeftMs < 0 ? -1 : (saving.LeftMs + 999) / 1000);
        info.Field("garnet_snapshot_partitions_done", saving.PartitionsDone);
        info.Field("garnet_snapshot_partitions", saving.PartitionsTotal);
    }

    // The fields that redis has for a load, and the same for our own jobs.
    private void Job(string name, JobProgress job)
    {
        long total = job.TotalBytes, done = job.DoneBytes;
        info.Field(name + "_total_bytes", total);
        info.Field(name + "_loaded_bytes", done);
        info.Field(name + "_loaded_perc", InfoText.Fraction(total == 0 ? 0 : 100.0 * done / total));
        info.Field(name + "_eta_seconds", Math.Max(job.LeftMs, 0) / 1000);
    }
}
