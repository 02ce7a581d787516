namespace Garnet.Server.Commands;

/// <summary>What whoever has a worker's replies must know of the scripts on it: how much they may take.</summary>
internal interface IScripts : IDisposable
{
    /// <summary>Bytes that a script may have.</summary>
    long MemoryBytesMax { get; }

    /// <summary>True if the script that runs may have so many bytes more.</summary>
    bool HasRoom(long bytes);
}
