using Garnet.Media;

namespace Tsavorite.Test.Tiers;

/// <summary>A tier some of which is a mapped file, as persistent memory is mapped; the disk, where there is one, is simulated.</summary>
internal sealed class MappedTier : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-pm-");

    public MappedTier(TierParts parts, long diskBytes, long memoryBytes)
    {
        Disk = parts == TierParts.Memory ? null : new SimulatedMedium(diskBytes);
        PmMedium? memory = parts == TierParts.Disk ? null
            : PmMedium.Over(FileMedium.Make(_directory.FullName, memoryBytes + PmMedium.MoreBytes, part: KeptPart.Memory), _directory.FullName);
        Medium = new LayeredMedium(Disk, memory);
    }

    public SimulatedMedium? Disk { get; }

    public LayeredMedium Medium { get; }

    public void Dispose()
    {
        Medium.Dispose();
        _directory.Delete(recursive: true);
    }
}
