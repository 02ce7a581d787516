namespace Garnet.Wire.Tiering;

/// <summary>A directory for a tier, and the settings that use it; with <paramref name="pm"/> one of that size in persistent memory, in a directory of its own, lies above it.</summary>
internal sealed class TierScratch(string memory = "24mb", string size = "512mb", string pm = "") : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-tier-"), _memory = Directory.CreateTempSubdirectory("garnet-tier-pm-");

    public string Path => _directory.FullName;

    public string MemoryPath => _memory.FullName;

    public string Flags => $"--maxmemory {memory} --tier-path {Path} --tier-size {size}{(pm.Length == 0 ? "" : " " + MemoryFlags)}";

    /// <summary>Without the disk.</summary>
    public string FlagsOfMemoryAlone => $"--maxmemory {memory} {MemoryFlags}";

    private string MemoryFlags => $"--tier-pm-path {MemoryPath} --tier-pm-size {pm}";

    public void Dispose()
    {
        _directory.Delete(recursive: true);
        _memory.Delete(recursive: true);
    }
}
