using Garnet.Bulk;

namespace Garnet.Server.Bulk;

/// <summary>
/// Memory of a client that it has named to its session, and what the server may do there. Nothing of it is believed: who carries the
/// bytes finds out.
/// </summary>
internal readonly record struct ClientRegion(RemoteRegion Place, BulkAccess Access)
{
    /// <summary>True if those bytes are what the client says that the region has.</summary>
    internal bool Has(ulong offset, ulong bytes) => offset <= Place.Length && bytes <= Place.Length - offset;
}
