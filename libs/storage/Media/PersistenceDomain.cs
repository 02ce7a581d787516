namespace Garnet.Media;

/// <summary>What becomes of bytes that were synced when the power fails.</summary>
public enum PersistenceDomain
{
    /// <summary>They are gone: memory.</summary>
    None,

    /// <summary>They are on a disk.</summary>
    Disk,

    /// <summary>
    /// They are in a file that is mapped as persistent memory would be, and nobody says that it is: in the system's cache, in a guest's
    /// memory, perhaps on a disk. What it is worth only who set the machine up can know.
    /// </summary>
    PmEmulated,

    /// <summary>They are in persistent memory, to which the memory controller writes what it has taken when the power fails (ADR).</summary>
    PmAdr,

    /// <summary>The same, and the processor's caches are written too (eADR).</summary>
    PmEadr,
}
