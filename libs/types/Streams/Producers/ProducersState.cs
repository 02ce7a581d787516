using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>What a stream knows of all its producers.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct ProducersState
{
    public const int Bytes = 48;

    public ProducerLimits Limits;
    /// <summary>Producers of which something is remembered.</summary>
    public long Producers;
    /// <summary>Names that are remembered.</summary>
    public long Names;
    /// <summary>Entries ever added under a name.</summary>
    public long Added;
    /// <summary>Entries that had been added before.</summary>
    public long Duplicates;
    /// <summary>Where the next look for what is due begins.</summary>
    public ulong Next;
}
