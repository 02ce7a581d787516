namespace Garnet.Media;

/// <summary>
/// What the system says of the device that a file lies on: its region's <c>persistence_domain</c> (ndctl's sysfs). Where it says nothing,
/// as for most virtual machines, nobody can know what becomes of a store, and nothing is claimed.
/// </summary>
internal static class PmPlatform
{
    private const string Answer = "persistence_domain";
    private const int LevelsMax = 16;

    /// <summary>The domain of a device that grants synchronous mappings.</summary>
    public static PersistenceDomain DomainOf(uint major, uint minor, string sysfs)
    {
        try
        {
            var device = new DirectoryInfo(Path.Combine(sysfs, "dev", "block", $"{major}:{minor}"));
            FileSystemInfo? at = device.ResolveLinkTarget(returnFinalTarget: true) ?? device;
            string? directory = at.FullName;
            for (int level = 0; level < LevelsMax && directory is not null; level++, directory = Path.GetDirectoryName(directory))
            {
                string file = Path.Combine(directory, Answer);
                if (File.Exists(file))
                    return Parse(File.ReadAllText(file).Trim());
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // what cannot be read says nothing
        }
        return PersistenceDomain.PmEmulated;
    }

    private static PersistenceDomain Parse(string text) => text switch
    {
        "cpu_cache" => PersistenceDomain.PmEadr,
        "memory_controller" => PersistenceDomain.PmAdr,
        _ => PersistenceDomain.PmEmulated,
    };
}
