using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>An entry that was claimed, and what was known of it before.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct ClaimedEntry(StreamId Id, long IdleMs, long Deliveries)
{
    public static unsafe int Bytes => sizeof(ClaimedEntry);
}
