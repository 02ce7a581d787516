using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>An entry that is pending, whether it is still there or not.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct PendingPiece(StreamId Id, long DeliveredMs, long Deliveries)
{
    public const int Bytes = 32;
}
