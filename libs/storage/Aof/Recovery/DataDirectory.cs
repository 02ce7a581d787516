using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof;

/// <summary>
/// The directory in which everything durable lives, held by one process: its lock, its manifest, the way from its files to a
/// store (<see cref="Recover"/>), and the order in which snapshots take the place of what came before.
/// Failures of the disk and refusals are <see cref="GarnetException"/>s that say what, why and what next.
/// </summary>
public sealed class DataDirectory : IDisposable
{
    private readonly Lock _gate = new();
    private readonly IDisposable? _lock;
    private readonly IReadOnlyList<string> _completed;
    private DirectoryKey? _key;

    private DataDirectory(IDisk disk, IDisposable? held, DirectoryLayout? fresh)
    {
        Disk = disk;
        _lock = held;
        _completed = Guarded(disk, disk.Complete);
        Manifest = Guarded(disk, () => ManifestFile.Open(disk, fresh ?? DirectoryLayout.OfThisMachine));
    }

    /// <summary>
    /// Opens the directory, creating it (mode 0700) and its manifest if need be, and locks it against other processes.
    /// Refused: a directory in use, symbolic links, what others own or may write to, a manifest that is damaged or missing.
    /// The log is not read.
    /// </summary>
    public static DataDirectory Open(string path, Func<string, IDisk> diskOf, DirectoryLayout? fresh = null)
    {
        if (!OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("data directories need Linux");
        string? made = DirectoryGuard.Create(path);
        DirectoryGuard.Judge(path);
        DirectoryLock held = DirectoryLock.Take(path);
        try
        {
            DataDirectory directory = OpenHeld(diskOf(path), held, fresh);
            directory.Made = made;
            return directory;
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    private static DataDirectory OpenHeld(IDisk disk, IDisposable held, DirectoryLayout? fresh)
    {
        try
        {
            return new DataDirectory(disk, held, fresh);
        }
        catch
        {
            disk.LetGo();
            throw;
        }
    }

    /// <summary>The same on a disk that somebody else guards.</summary>
    public static DataDirectory OpenUnlocked(IDisk disk, DirectoryLayout? fresh = null) => new(disk, null, fresh);

    /// <summary>Keeps other processes out of a directory without reading anything; for tools that look at a damaged one.</summary>
    public static IDisposable Hold(string path)
    {
        if (!OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("data directories need Linux");
        DirectoryGuard.Judge(path);
        return DirectoryLock.Take(path);
    }

    /// <summary>The same of one that a server is to begin in: it is made if it is not there.</summary>
    public static IDisposable Claim(string path)
    {
        if (!OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("data directories need Linux");
        DirectoryGuard.Create(path);
        return Hold(path);
    }

    /// <summary>True if it has only the lock, or nothing.</summary>
    public static bool IsUnused(string path)
    {
        foreach (string file in Directory.EnumerateFileSystemEntries(path))
            if (Path.GetFileName(file) != DirectoryLock.FileName)
                return false;
        return true;
    }

    /// <summary>True if anything in the directory is a data directory's, whatever its state.</summary>
    public static bool Is(string path)
    {
        if (!OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("data directories need Linux");
        foreach (string file in Directory.EnumerateFileSystemEntries(path))
            if (Path.GetFileName(file) is var name && name != DirectoryLock.FileName && DirectoryGuard.IsOurs(name))
                return true;
        return false;
    }

    /// <summary>The files.</summary>
    public IDisk Disk { get; }

    /// <summary>The uppermost of the directories that were made for it, as they were not there; null if it was there.</summary>
    public string? Made { get; private set; }

    /// <summary>What the directory is, as it stands on disk now.</summary>
    public Manifest Manifest { get; private set; }

    /// <summary>
    /// The first batch that a recovery may need, also if the newest snapshot is damaged: what the log may be truncated to.
    /// </summary>
    public ulong LogNeededFrom => (Manifest.Previous?.Batch ?? 0) + 1;

    /// <summary>
    /// Fills an empty store: loads the newest sound snapshot, replays the log behind it, cuts away what an interrupted write
    /// left, and says where the log goes on. The store's expiry is paused by the caller; its logging is off meanwhile.
    /// A damaged log is refused or cut by the settings; a damaged snapshot is replaced by the one before if the log allows.
    /// After a refusal the store holds a part of the data and must be thrown away.
    /// </summary>
    public RecoveryReport Recover(Store store, ReplayTable table, RecoverySettings settings, ISnapshotSource snapshots,
        JobProgress progress)
    {
        bool logging = store.Logging;
        store.Logging = false;
        try
        {
            var recovery = new DirectoryRecovery(this, settings, snapshots, progress);
            return Guarded(Disk, () => recovery.Run(store, table, _completed));
        }
        finally
        {
            store.Logging = logging;
        }
    }

    /// <summary>
    /// A file of that name is about to be written anew, which happens where no log counts batches: the newest snapshot is then the old
    /// file or the new one. Durable when this returns. Throws <see cref="DiskException"/>.
    /// </summary>
    public void ExpectSnapshot(string name)
    {
        lock (_gate)
        {
            if (Manifest.Snapshot is { } snapshot && snapshot.File == name)
                Publish(Manifest with { Snapshot = new SnapshotName(name, snapshot.Batch) });
        }
    }

    /// <summary>
    /// What the next snapshot of a store whose values were all judged is sealed with: the directory's key as it is there now, if that is known
    /// to be ours, else a new one (log.K2); null if there can be none.
    /// </summary>
    internal DirectoryKey? KeyToSealWith()
    {
        lock (_gate)
        {
            if (_key is { IsProven: true } && _key.Is(DirectoryKey.TryRead(Disk)))
                return _key;
            return _key = DirectoryKey.TryMake(Disk);
        }
    }

    /// <summary>The tier's file is looked for there from now on; durable when this returns. Throws <see cref="DiskException"/>.</summary>
    public void NameTier(TierName tier)
    {
        lock (_gate)
        {
            if (Manifest.Tier != tier)
                Publish(Manifest with { Tier = tier });
        }
    }

    /// <summary>
    /// Makes a snapshot that is durable already the newest (log.M1). The one before stays as the way back; older ones are
    /// deleted, and only when the manifest that does not name them is durable. <paramref name="terms"/> is what is known of the
    /// terms of this history. <paramref name="waits"/>: a tier has little room but for what the one before names; if no batch came since the newest, whose
    /// place this takes, none may come before there is room, so that the one before goes all the same. Throws <see cref="DiskException"/>.
    /// </summary>
    public void PublishSnapshot(string name, ulong batch, IReadOnlyList<TermStart> terms, bool waits = false)
    {
        lock (_gate)
        {
            SnapshotName? previous = Manifest.Snapshot?.File != name ? Manifest.Snapshot : waits ? null : Manifest.Previous;
            Publish(Manifest with { Snapshot = NamedFiles.Snapshot(Disk, name, batch), Previous = previous, Terms = UpTo(batch, terms) });
            DeleteObsoleteSnapshots(batch);
        }
    }

    /// <summary>
    /// Deletes the sublog files that hold nothing but batches of the older snapshot, oldest first, and returns their names.
    /// For a directory whose log nobody writes: a writer keeps its own list of files and truncates to <see cref="LogNeededFrom"/>.
    /// Throws <see cref="DiskException"/>.
    /// </summary>
    public IReadOnlyList<string> DeleteObsoleteLogs()
    {
        lock (_gate)
        {
            var deleted = new List<string>();
            List<LogFile> files = LogFiles.All(Disk);
            for (int i = 0; i + 1 < files.Count; i++)
            {
                if (files[i + 1].Sublog != files[i].Sublog || files[i + 1].FirstBatch > LogNeededFrom)
                    continue;
                Disk.Delete(files[i].Name);
                deleted.Add(files[i].Name);
            }
            if (deleted.Count > 0)
                Disk.SyncDirectory();
            return deleted;
        }
    }

    /// <summary>
    /// Puts a primary's snapshot, whole and durable under its temporary name, in the place of all that was here; the log is to go
    /// on behind its position in as many sublogs as the primary has. Nobody writes a log here meanwhile. Throws <see cref="DiskException"/>.
    /// </summary>
    public void Replace(string snapshot, LogPosition at, IReadOnlyList<TermStart> terms)
    {
        ArgumentNullException.ThrowIfNull(at);
        lock (_gate)
        {
            Manifest next = Manifest with
            {
                Snapshot = NamedFiles.Snapshot(Disk, snapshot + SnapshotFileName.UnfinishedSuffix, at.Batch) with { File = snapshot },
                Previous = null, Sublogs = at.Crcs.Count, Term = Math.Max(at.Term, Manifest.Term),
                Terms = UpTo(at.Batch, terms), Logs = [], Ended = 0,
            };
            Replacement.Do(Disk, next);
            Manifest = next;
        }
    }

    /// <summary>True if no snapshot is of a later moment: the log can be cut behind the batch.</summary>
    public bool CanCutBehind(ulong batch) => !(Manifest.Snapshot?.Batch > batch) && !(Manifest.Previous?.Batch > batch);

    /// <summary>
    /// Cuts the log behind a position that it went through; false, and nothing has changed, if it cannot be found any more. Nobody
    /// writes a log here meanwhile. Throws <see cref="DiskException"/>.
    /// </summary>
    public bool TryCutBehind(LogPosition position)
    {
        ArgumentNullException.ThrowIfNull(position);
        lock (_gate)
        {
            if (position.Batch == 0 || position.Crcs.Count != Manifest.Sublogs || !CanCutBehind(position.Batch))
                return false;
            using var reader = new LogReader(Disk, Manifest.Sublogs, position.Batch - 1);
            if (!reader.Next() || reader.LastBatch != position.Batch
                || reader.Cursors.Any(cursor => cursor.LastCrc != position.Crcs[cursor.Sublog]))
                return false;
            var cut = new LogCut(Disk, CorruptionPolicy.Refuse);
            Publish(cut.Left(reader, Manifest));
            cut.Apply(reader);
            return true;
        }
    }

    /// <summary>The log goes on in a later term: durable when this returns. Throws <see cref="DiskException"/>.</summary>
    public void RaiseTerm(uint term)
    {
        lock (_gate)
        {
            if (term > Manifest.Term)
                Publish(Manifest with { Term = term });
        }
    }

    /// <summary>
    /// The sublogs from the one of the number on are written to these files from now on: durable when this returns. Throws
    /// <see cref="DiskException"/>.
    /// </summary>
    public void NameLogs(int sublog, NamedLog[] logs)
    {
        ArgumentNullException.ThrowIfNull(logs);
        lock (_gate)
        {
            var all = new NamedLog[Manifest.Sublogs];
            for (int i = 0; i < Manifest.Logs.Count; i++) all[i] = Manifest.Logs[i];
            logs.CopyTo(all, sublog);
            Publish(Manifest with { Logs = all });
        }
    }

    /// <summary>The log has ended in order and is durable up to the batch. Throws <see cref="DiskException"/>.</summary>
    public void NameEnd(ulong durable)
    {
        lock (_gate)
        {
            if (durable != Manifest.Ended)
                Publish(Manifest with { Ended = durable });
        }
    }

    /// <summary>The key as the directory has it, to open seals with; null if there is none (log.K3).</summary>
    internal DirectoryKey? ReadKey() => _key = DirectoryKey.TryRead(Disk);

    /// <summary>Also those that a batch which is not there yet is to begin: the log says nothing of a term that the snapshot is of already.</summary>
    internal static TermStart[] UpTo(ulong batch, IReadOnlyList<TermStart> terms) =>
        [.. terms.Where(term => term.First <= batch + 1).TakeLast(TermStart.KeptMax)];

    /// <summary>What a recovery has found and decided is the directory's from now on; a snapshot that is damaged is put aside.</summary>
    internal void PublishRecovered(SnapshotChoice choice, Manifest next)
    {
        lock (_gate)
        {
            if (next.Logs.SequenceEqual(Manifest.Logs))
                next = next with { Logs = Manifest.Logs };
            if (choice.Damaged.Count > 0)
                next = next with { Snapshot = choice.Chosen, Previous = null };
            if (next != Manifest)
                Publish(next);
            foreach (SnapshotName damaged in choice.Damaged)
                if (Disk.List().Contains(damaged.File))
                    Aside.Move(Disk, damaged.File);
            if (choice.Damaged.Count > 0)
                Disk.SyncDirectory();
        }
    }

    /// <summary>Gives the directory up.</summary>
    public void Dispose()
    {
        Disk.Tidy();
        Disk.LetGo();
        _lock?.Dispose();
    }

    private void Publish(Manifest next)
    {
        ManifestFile.Publish(Disk, next);
        Manifest = next;
    }

    private void DeleteObsoleteSnapshots(ulong newest)
    {
        bool deleted = false;
        foreach (string name in Disk.List())
        {
            if (!SnapshotFileName.TryParse(name, out ulong batch) || batch > newest)
                continue;
            if (name == Manifest.Snapshot?.File || name == Manifest.Previous?.File)
                continue;
            Disk.Delete(name);
            deleted = true;
        }
        if (deleted)
            Disk.SyncDirectory();
    }

    private static T Guarded<T>(IDisk disk, Func<T> step)
    {
        try
        {
            return step();
        }
        catch (DiskException e)
        {
            throw new GarnetException(ExitKind.Data, $"the data directory cannot be used: {disk.Path}", e.Message,
                e.IsFull ? "Make room on the disk." : "Look at the system's log for errors of the disk, and at the rights of the files.");
        }
    }
}
