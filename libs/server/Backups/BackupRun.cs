using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Common.Time;
using Garnet.Server.Replication;
using Garnet.Server.Replication.Export;
using Tsavorite;

namespace Garnet.Server.Backups;

/// <summary>One backup: all that the store has at one moment, written while others go on, read back, and given its name (backups.K1).</summary>
internal sealed class BackupRun(BackupShelf shelf, CopyRole role, BackupTerms terms, IClock clock)
{
    private const int RdbVersion = 12; // the one that has all there is

    private static readonly string _version = typeof(BackupRun).Assembly.GetName().Version?.ToString(3) ?? "";

    private readonly JobProgress _proof = new("verifying a backup", clock);
    private volatile bool _isWritten;

    /// <summary>True once it is read back.</summary>
    internal bool IsVerifying => _isWritten;

    /// <summary>Ends it, while it is read back.</summary>
    internal void Cancel() => _proof.Cancel();

    /// <summary>Takes it; what was begun is gone if that fails.</summary>
    internal StoredBackup Take(CancellationToken ended)
    {
        shelf.Sweep();
        StoredBackup? made = null;
        IDiskFile file = shelf.Begin(terms.CreatedMs, out BackupName name);
        try
        {
            using (file)
                Write(file, ended);
            _isWritten = true;
            StoredBackup proven = Prove(name);
            shelf.Publish(name);
            made = proven;
        }
        finally
        {
            if (made is null)
                TrySweep();
        }

        return made;
    }

    private void Write(IDiskFile file, CancellationToken ended)
    {
        long most = terms.SavedBytesMax; // nobody is had to wait before that, as its disk may be one that never answers (backups.K2)
        var options = new SnapshotOptions { PartitionsAtOnce = 1, BufferBytes = most, BufferBytesMax = most, Ended = ended };
        using StoreSnapshot snapshot = role.Cut(options, ended)
            ?? throw new OperationCanceledException(ended);
        var header = new BackupHeader
        {
            CreatedMs = terms.CreatedMs, Term = role.Term, Batch = snapshot.Batch, ServerVersion = _version,
            Salt = terms.Key is null ? [] : Libc.RandomBytes(BackupHeader.SaltBytes),
        };
        using var writer = new BackupWriter(file, header, terms.Key);
        var rdb = new RdbFileOut(writer, onlyFunctions: false) { TellsAll = true };
        try
        {
            using var keys = new SnapshotKeys(snapshot, bytesMax: 0, rdb);
            rdb.Begin(RdbVersion, terms.RedisVersion, terms.CreatedMs);
            while (snapshot.Step(keys))
            {
                ended.ThrowIfCancellationRequested();
                Thread.Yield();
            }

            if (snapshot.State != SnapshotState.Whole)
            {
                throw new GarnetException(ExitKind.Data, "it is not whole", "writers changed more meanwhile than may be kept in memory",
                    "Take it when there is less load");
            }

            rdb.End();
            writer.End(rdb.Keys, rdb.Functions, rdb.Databases);
        }
        finally
        {
            rdb.Free();
        }
    }

    // backups.K1
    private StoredBackup Prove(BackupName name)
    {
        using IDiskFile file = shelf.OpenUnfinished(name);
        using var reader = new BackupReader(name.ToString(), file.Length, file.Read);
        reader.Prove(terms.Key, _proof);
        return new StoredBackup(name, file.Length, reader.Header, reader.Trailer);
    }

    private void TrySweep()
    {
        try
        {
            shelf.Sweep();
        }
        catch (DiskException)
        {
            // why there is no backup is being told; the next one removes it (backups.K2)
        }
    }
}
