namespace Garnet.Wire.Tiering;

/// <summary>A directory for a tier, and the settings that use it.</summary>
internal sealed class TierScratch(string memory = "24mb", string size = "512mb") : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-tier-");

    public string Path => _directory.FullName;

    public string Flags => $"--maxmemory {memory} --tier-path {Path} --tier-size {size}";

    public void Dispose() => _directory.Delete(recursive: true);
}
