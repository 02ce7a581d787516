using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Pm;
using Garnet.Common;
using Garnet.Common.Time;

namespace Garnet.Server;

/// <summary>
/// The data directory without a server: <c>garnet-server check DIR</c> reads everything and says what is sound, <c>repair DIR</c>
/// proposes what would make a damaged one usable and, with <c>--apply</c>, does it; originals are kept aside. Lines go to <c>say</c>,
/// how far it is, every second, to <c>speak</c>. Where a file in persistent memory is named (<c>aof-pm-path</c>), what it holds of the log is put there first.
/// </summary>
public static class DataTool
{
    private const int SpeakMs = 1000;
    private const string NameIt = "Name the directory that was given as --dir, or, where appenddirname is set, that directory in it";

    /// <summary>0 if everything is sound, else <see cref="ExitKind.Data"/>. Throws <see cref="GarnetException"/> if the directory cannot be used.</summary>
    public static int Check(string path, Action<string> say, Action<string> speak, string memoryFile = "") =>
        With(path, say, speak, static tool => tool.Check(), memoryFile);

    /// <summary>0 if nothing is to be done or it was done, else <see cref="ExitKind.Data"/>. Throws as <see cref="Check"/> does.</summary>
    public static int Repair(string path, bool apply, Action<string> say, Action<string> speak, string memoryFile = "") =>
        With(path, say, speak, tool => tool.Repair(apply), memoryFile);

    internal static IReadOnlyList<CheckFinding> Judge(IDisk disk, JobProgress progress) =>
        new DirectoryTool(disk.Path, disk, progress, static _ => { }).Judge();

    private static bool IsOne(string directory)
    {
        try
        {
            return DataDirectory.Is(directory);
        }
        catch (Exception e) when (e is UnauthorizedAccessException or IOException)
        {
            throw new GarnetException(ExitKind.Permission, $"the data directory {directory} cannot be read", e.Message,
                "Run this as the user whose server it is");
        }
    }

    private static int With(string path, Action<string> say, Action<string> speak, Func<DirectoryTool, int> step, string memoryFile)
    {
        string inner = Path.Combine(path, new PersistenceSettings().AppendDirectory);
        string directory = Directory.Exists(inner) ? inner : path;
        string why = File.Exists(path) ? "it is a file, not a directory" : "it does not exist";
        if (!Directory.Exists(directory))
            throw new GarnetException(ExitKind.Data, $"there is no data directory {path}", why, NameIt);
        if (!IsOne(directory)) // before its lock would be put there
            throw new GarnetException(ExitKind.Data, $"{directory} is no data directory",
                "there is no manifest, no log and no snapshot in it", NameIt);
        using IDisposable held = DataDirectory.Hold(directory);
        var progress = new JobProgress("reading", SystemClock.Instance);
        using var speaker = new Timer(_ => speak(progress.Format()), null, SpeakMs, SpeakMs);
        try
        {
            using PmRings? memory = memoryFile.Length == 0 ? null
                : PmRings.Open(Path.GetFullPath(memoryFile), rings: 1, trustsEmulated: false);
            var disk = new FileDisk(directory, memory);
            foreach (string line in disk.Complete()) say(line);
            return step(new DirectoryTool(path, disk, progress, say));
        }
        catch (DiskException e)
        {
            throw new GarnetException(ExitKind.Data, $"the data directory {directory} cannot be read", e.Message,
                "Look at the disk and at the rights of the files");
        }
    }
}
