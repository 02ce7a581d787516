using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>A page in the directory.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct StreamSlot
{
    public const int Bytes = 20;

    /// <summary>Id of the page's first entry, whether that is still there or not.</summary>
    public StreamId First;
    /// <summary>Number of its chunk.</summary>
    public uint Number;
}
