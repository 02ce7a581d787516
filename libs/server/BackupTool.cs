using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Backups;
using Microsoft.Win32.SafeHandles;

namespace Garnet.Server;

/// <summary>
/// A backup without a server: <c>garnet-server restore BACKUP --dir DIR</c> proves the file as a whole, and then makes of DIR a directory with which a server starts with
/// exactly that state: it imports what is put there, as it would a file of Redis. Lines go to <c>say</c>, how far it is, every second, to <c>speak</c>.
/// </summary>
public static class BackupTool
{
    private const int SpeakMs = 1000, PieceBytes = 1 << 20;
    private const string Unfinished = ".restoring"; // behind the name of what is written, until all of it is there

    /// <summary>0 if it was done, or could be.</summary>
    /// <param name="path">The backup.</param>
    /// <param name="settings">Where the server that is to start with it looks, and under which names; null: the file is only proven.</param>
    /// <param name="keyFile">Where the key is; empty if there is none.</param>
    /// <param name="isDryRun">Nothing is written.</param>
    /// <param name="say">Takes lines that stay.</param>
    /// <param name="speak">Takes lines of progress.</param>
    /// <exception cref="GarnetException">The file is no sound backup, the key is not its key, or the directory has data: nothing was written.</exception>
    public static int Restore(
        string path, PersistenceSettings? settings, string keyFile, bool isDryRun, Action<string> say, Action<string> speak)
    {
        if (settings is not null)
            ExpectEmpty(settings);
        byte[]? key = BackupKey.Read(keyFile);
        if (key is not null && BackupKey.IsOpen(keyFile))
            say($"Others than its owner may read {keyFile}, and with it every backup: chmod 600 {keyFile}");
        using SafeFileHandle file = Open(path);
        using var reader = new BackupReader(path, RandomAccess.GetLength(file), (offset, to) => RandomAccess.Read(file, to, offset));
        var progress = new JobProgress("checking a backup", SystemClock.Instance);
        using var speaker = new Timer(_ => speak(progress.Format()), null, SpeakMs, SpeakMs);
        reader.Prove(key, progress);
        foreach (string line in About(path, reader)) say(line);
        if (settings is null || isDryRun)
        {
            say(settings is null ? "The backup is sound. Nothing was written."
                : $"The backup is sound, and {settings.Directory} has no data: it would become {TargetOf(settings)}. Nothing was written.");
            return 0;
        }

        reader.Begin(key);
        using (Claim(settings)) // no server starts there, and no other restore writes, from the look to the end
        {
            ExpectEmpty(settings);
            Write(reader, settings, progress);
        }

        say($"{TargetOf(settings)} is written: garnet-server --dir {settings.Directory}, with the other settings that were named here, "
            + "starts with what was backed up. Once that start has said that it imported the file, it is needed no more.");
        return 0;
    }

    private static string TargetOf(PersistenceSettings settings) => Path.Combine(settings.Directory, settings.ImportFile);

    private static IEnumerable<string> About(string path, BackupReader reader)
    {
        (BackupHeader header, BackupTrailer trailer) = (reader.Header, reader.Trailer);
        string log = header.Batch > 0 ? $", behind batch {header.Batch} of term {header.Term}" : "";
        DateTimeOffset created = DateTimeOffset.FromUnixTimeMilliseconds(header.CreatedMs);
        yield return $"{Path.GetFileName(path)} was taken at {created:u} by Garnet {header.ServerVersion}{log}.";
        yield return $"It holds {trailer.Keys} keys and {trailer.Functions} libraries of functions, {trailer.PayloadBytes} bytes"
            + (header.IsEncrypted ? ", encrypted." : ".");
        if (trailer.Databases > new MemorySettings().Databases)
        {
            yield return $"Its databases go up to {trailer.Databases - 1}: a server needs --databases {trailer.Databases}, "
                + "or it refuses to start with them.";
        }

    }

    // What a start would go on from, whatever made it, and by whatever settings.
    private static void ExpectEmpty(PersistenceSettings settings)
    {
        string directory = settings.Directory, inner = Path.Combine(directory, settings.AppendDirectory), import = TargetOf(settings);
        try
        {
            string why = File.Exists(directory) ? $"{directory} is a file"
                : File.Exists(import) ? $"{import} is there already"
                : Directory.Exists(inner) && !DataDirectory.IsUnused(inner) ? $"there are data in {inner}"
                : DataIn(directory) is { } there ? $"there are data in {there}" : "";
            if (why.Length > 0)
            {
                throw new GarnetException(ExitKind.Data, "nothing can be restored there", why,
                    "Name another directory, or move what is there away");
            }

        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new GarnetException(ExitKind.Permission, $"{directory} cannot be read", e.Message,
                "Run this as the user whose server it is to be");
        }
    }

    // The directory itself, or one in it, under whatever name (appenddirname); null if none has data.
    private static string? DataIn(string directory)
    {
        if (!Directory.Exists(directory))
            return null;
        if (DataDirectory.Is(directory))
            return directory;
        foreach (string inner in Directory.EnumerateDirectories(directory))
        {
            try
            {
                if (DataDirectory.Is(inner))
                    return inner;
            }
            catch (UnauthorizedAccessException)
            {
                // of somebody else, such as lost+found: a server of this user could not start there
            }
        }

        return null;
    }

    private static IDisposable Claim(PersistenceSettings settings)
    {
        try
        {
            Directory.CreateDirectory(settings.Directory);
            return DataDirectory.Claim(Path.Combine(settings.Directory, settings.AppendDirectory));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw CannotWrite(settings, e, "Name a directory that this user may make, or write to");
        }
    }

    private static GarnetException CannotWrite(PersistenceSettings settings, Exception e, string next) =>
        new(e is UnauthorizedAccessException ? ExitKind.Permission : ExitKind.Data,
            $"{TargetOf(settings)} cannot be written", e.Message, next);

    private static SafeFileHandle Open(string path)
    {
        try
        {
            return File.OpenHandle(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            ExitKind kind = e is UnauthorizedAccessException ? ExitKind.Permission : ExitKind.Data;
            throw new GarnetException(kind, $"the backup {path} cannot be read", e.Message,
                "Name a file that BACKUP has made, and that this user may read");
        }
    }

    private static void Write(BackupReader from, PersistenceSettings settings, JobProgress progress)
    {
        progress.Begin("restoring", from.Trailer.PayloadBytes);
        string name = settings.ImportFile, unfinished = name + Unfinished;
        try
        {
            var disk = new FileDisk(settings.Directory);
            Remove(disk, unfinished); // of one that was killed
            bool isWhole = false;
            try
            {
                Copy(from, disk, unfinished, progress);
                // Whoever put one there meanwhile keeps it.
                File.Move(Path.Combine(disk.Path, unfinished), TargetOf(settings), overwrite: false);
                disk.SyncDirectory();
                isWhole = true;
            }
            finally
            {
                if (!isWhole)
                    Remove(disk, unfinished);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw CannotWrite(settings, e, $"It needs {from.Trailer.PayloadBytes} bytes on a disk that this user may write to");
        }
    }

    private static void Copy(BackupReader from, FileDisk disk, string name, JobProgress progress)
    {
        using IDiskFile file = disk.Create(name, 0);
        byte[] piece = new byte[PieceBytes];
        long at = 0;
        for (int got; (got = from.Read(piece)) > 0; at += got)
        {
            file.Write(at, piece.AsSpan(0, got));
            progress.Add(got);
        }

        file.Sync();
    }

    private static void Remove(FileDisk disk, string name)
    {
        if (disk.List().Contains(name))
            disk.Delete(name);
    }
}
