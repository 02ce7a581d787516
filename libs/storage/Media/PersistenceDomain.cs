namespace Garnet.Media;

/// <summary>What becomes of bytes that were synced when the power fails.</summary>
public enum PersistenceDomain
{
    /// <summary>They are gone: memory.</summary>
    None,

    /// <summary>They are on a disk.</summary>
    Disk,
}
