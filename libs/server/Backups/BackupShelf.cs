using Garnet.Aof.Disk;
using Garnet.Common;

namespace Garnet.Server.Backups;

/// <summary>The directory of the backups. What has not the name of one, or not its two ends, is somebody else's: it is neither counted nor touched.</summary>
internal sealed class BackupShelf(IDisk disk)
{
    /// <summary>All of them, the newest first. Files with the name of one that could not be opened go to <paramref name="unopened"/>, with why.</summary>
    internal List<StoredBackup> Look(List<string>? unopened = null)
    {
        List<StoredBackup> found = [];
        foreach (string file in disk.List())
        {
            if (BackupName.TryParse(file, out BackupName name) && Known(name, unopened) is { } known)
                found.Add(known);
        }

        found.Sort(static (left, right) => right.Name.CompareTo(left.Name));
        return found;
    }

    /// <summary>Removes what a backup that came to no end has left.</summary>
    internal void Sweep()
    {
        foreach (string file in disk.List())
        {
            if (BackupName.IsUnfinished(file))
                disk.Delete(file);
        }
    }

    /// <summary>A new file for a backup of that moment, under the name of one that is not finished.</summary>
    internal IDiskFile Begin(long unixMs, out BackupName name)
    {
        IReadOnlyList<string> taken = disk.List();
        name = BackupName.Of(unixMs, taken);
        if (taken.Contains(name.ToString()))
        {
            throw new GarnetException(ExitKind.Data, "no backup can be made", $"all names of this second are taken in {disk.Path}",
                "Take it later");
        }

        return disk.Create(name + BackupName.Unfinished, 0);
    }

    /// <summary>Opens the file of one that is not finished, to be read back.</summary>
    internal IDiskFile OpenUnfinished(BackupName name) => disk.OpenToRead(name + BackupName.Unfinished);

    /// <summary>It is a backup from now on, also after a power cut.</summary>
    internal void Publish(BackupName name)
    {
        disk.Rename(name + BackupName.Unfinished, name.ToString());
        disk.SyncDirectory();
    }

    /// <summary>
    /// Deletes the oldest beyond so many (backups.K3); <paramref name="verified"/> stays whatever its name says of its age, as clocks may be set back. How many went.
    /// One that cannot be deleted stays, and costs no newer one its place; <paramref name="failure"/> is the first of these.
    /// </summary>
    internal int Thin(int keep, BackupName verified, out DiskException? failure)
    {
        List<StoredBackup> all = Look();
        // A name later than that is of a clock that ran ahead, and tells nothing: until its time had come each new one would be the oldest.
        int ahead = Math.Max(all.FindIndex(one => one.Name.CompareTo(verified) <= 0), 0);
        all = [.. all[ahead..], .. all[..ahead]];
        int removed = 0;
        failure = null;
        for (int at = all.Count - 1, beyond = all.Count - keep; at >= 0 && beyond > 0; at--)
        {
            if (all[at].Name == verified)
                continue;
            beyond--;
            try
            {
                disk.Delete(all[at].Name.ToString());
                removed++;
            }
            catch (DiskException e)
            {
                failure ??= e;
            }
        }

        if (removed > 0)
            disk.SyncDirectory();
        return removed;
    }

    // What its two ends say; null if it is no backup, or cannot be read.
    private StoredBackup? Known(BackupName name, List<string>? unopened)
    {
        try
        {
            using IDiskFile file = disk.OpenToRead(name.ToString()); // old ones may be kept from being written
            using var reader = new BackupReader(name.ToString(), file.Length, file.Read);
            return new StoredBackup(name, file.Length, reader.Header, reader.Trailer);
        }
        catch (DiskException e)
        {
            unopened?.Add(e.Message);
            return null;
        }
        catch (GarnetException)
        {
            return null;
        }
    }
}
