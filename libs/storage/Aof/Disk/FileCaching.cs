namespace Garnet.Aof.Disk;

/// <summary>How a file with room set aside is written.</summary>
public enum FileCaching
{
    /// <summary>Through the system's cache: a write costs a copy, and the end of the process takes nothing.</summary>
    Buffered,
    /// <summary>
    /// From front to back through a ring of our own, where the file system allows it: a write costs a copy, the end of the process
    /// takes nothing, and the disk gets large pieces past the cache.
    /// </summary>
    Staged,
    /// <summary>Past the cache where the file system allows it, in aligned pieces: what a sync waits for is what it was asked for. Or through a ring in persistent memory.</summary>
    Direct,
}
