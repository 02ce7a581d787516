namespace Garnet.Server.Clients;

/// <summary>How a client wants to be told about keys.</summary>
[Flags]
internal enum TrackingModes : byte
{
    None = 0,
    /// <summary>By prefix, whatever was read.</summary>
    Broadcast = 1,
    /// <summary>Only what is read right after CLIENT CACHING YES.</summary>
    OptIn = 2,
    /// <summary>Everything but what is read right after CLIENT CACHING NO.</summary>
    OptOut = 4,
    /// <summary>Not about the client's own changes.</summary>
    NoLoop = 8,
}
