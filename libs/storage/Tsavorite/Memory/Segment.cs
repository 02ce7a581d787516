using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>State of a record segment.</summary>
internal enum SegmentState
{
    Free,
    Active,
    Full,
    Draining,
}

/// <summary>Descriptor of a record segment, off heap; changed under the lock of the partition that owns it.</summary>
[StructLayout(LayoutKind.Sequential, Size = 64)]
internal struct Segment
{
    public const int HeaderBytes = 64;
    public const uint Magic = 0x31474553;

    public SegmentState State;
    public int Partition;
    public int Class;
    /// <summary>Bytes handed out, header included.</summary>
    public int Used;
    public int LiveBytes;

    public readonly int DeadBytes => Used - HeaderBytes - LiveBytes;

    /// <summary>Neighbours in the partition's list; <see cref="Next"/> also links free segments.</summary>
    public uint Previous, Next;
    /// <summary>No record in the segment expires earlier (may be too early, never too late).</summary>
    public long MinExpiryMs;
    /// <summary>Grows with every use of the segment.</summary>
    public uint Life;
}
