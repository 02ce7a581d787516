using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>Which entry has a name, and since when.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct ProducedEntry
{
    public const int Bytes = 24;

    public StreamId Id;
    public long AddedMs;
}
