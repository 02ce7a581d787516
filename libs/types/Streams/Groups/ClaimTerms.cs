using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>How entries are given to another consumer.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct ClaimTerms
{
    public long NowMs;
    /// <summary>Only entries that were delivered so long ago.</summary>
    public long MinIdleMs;
    /// <summary>When they count as delivered.</summary>
    public long DeliveredMs;
    /// <summary>How often they count as delivered, -1 for once more.</summary>
    public long Deliveries;
    /// <summary>The group's last id is this at least.</summary>
    public StreamId Last;
    /// <summary>Entries that are not pending become so.</summary>
    public bool Forces;
    /// <summary>Only ids are replied, and the entries have not been delivered once more.</summary>
    public bool OnlyIds;

    public static unsafe int Bytes => sizeof(ClaimTerms);
}
