using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Pm;
using Garnet.Common;
using Garnet.Server.Base;

namespace Garnet.Server.Persistence;

/// <summary>Whether the settings ask for a data directory, and which.</summary>
internal static class DirectoryChoice
{
    /// <summary>Opens the data directory if the settings ask for one; null if the server is to run in memory.</summary>
    /// <exception cref="GarnetException">The directory cannot be used; the message says why and what to do.</exception>
    internal static DataDirectory? Open(PersistenceSettings settings, SettingTable table, ServerLog lines)
    {
        bool hasDirectory = IsGiven(table, "dir");
        if (!IsGiven(table, "appendonly"))
            settings.AppendOnly = hasDirectory;
        if (hasDirectory || settings.AppendOnly)
            return Open(settings, lines);
        if (settings.Save.Rules.Count > 0)
            lines.SaveWithoutDirectory();
        return null;
    }

    private static DataDirectory Open(PersistenceSettings settings, ServerLog lines)
    {
        int sublogs = settings.Sublogs > 0 ? settings.Sublogs : Math.Clamp(Environment.ProcessorCount / 4, 1, AofSettings.SublogsMax);
        var fresh = new DirectoryLayout(DirectoryLayout.OfThisMachine.Lanes, sublogs);
        string path = Path.Combine(settings.Directory, settings.AppendDirectory);
        DataDirectory directory = DataDirectory.Open(path, held => new FileDisk(held, OpenMemory(settings, sublogs)), fresh);
        if (directory.Made is { } made)
            lines.DirectoryMade(Path.GetFullPath(path), made);
        return directory;
    }

    private static PmRings? OpenMemory(PersistenceSettings settings, int sublogs) =>
        settings.MemoryFile.Length == 0 ? null : PmRings.Open(Path.GetFullPath(settings.MemoryFile), sublogs, settings.TrustsEmulated);

    private static bool IsGiven(SettingTable table, string name) =>
        table.TryFind(name, out Setting? setting) && setting.Source != SettingSource.Default;
}
