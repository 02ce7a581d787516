using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>What a group knows beside what is pending.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct GroupState
{
    public const int Bytes = 32;

    /// <summary>In <see cref="Read"/>: not known.</summary>
    public const long Unknown = -1;

    /// <summary>The last entry that was delivered.</summary>
    public StreamId Last;
    /// <summary>Entries of the stream up to that one, as far as is known.</summary>
    public long Read;
    /// <summary>Entries delivered and not acknowledged.</summary>
    public long Pending;
}
