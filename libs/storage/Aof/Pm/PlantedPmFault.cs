namespace Garnet.Aof.Pm;

/// <summary>What a ring does wrong where a test plants it; each must make some test fail.</summary>
internal enum PlantedPmFault
{
    None,
    /// <summary>A fence is not waited for.</summary>
    NoFence,
    /// <summary>The head moves before the file has been synced.</summary>
    HeadBeforeSync,
    /// <summary>Room is used again before the head that gives it up is fenced, and that is never fenced.</summary>
    ReuseBeforeHead,
    /// <summary>A record carries the lap before its own.</summary>
    WrongLap,
    /// <summary>Nobody looks at the checksum of a record.</summary>
    NoChecksum,
    /// <summary>Nobody looks at the checksum of a head.</summary>
    NoHeadChecksum,
    /// <summary>The head is written over the copy that counts.</summary>
    OneHead,
}
