namespace Garnet.Server.Clients;

/// <summary>What one client asked CLIENT TRACKING for. Other reactors read it, so all but the two marks is fixed at birth.</summary>
internal sealed class TrackingState(TrackingModes modes, long redirectId, Connection? redirect, byte[][] prefixes)
{
    internal TrackingModes Modes => modes;

    /// <summary>Who receives the messages instead; 0 for nobody.</summary>
    internal long RedirectId => redirectId;

    internal Connection? Redirect => redirect;

    /// <summary>Prefixes of broadcast mode, in byte order.</summary>
    internal byte[][] Prefixes => prefixes;

    /// <summary>Bytes that the prefixes take, estimated by entry.</summary>
    internal long MemoryBytes { get; } = prefixes.Sum(Tracking.Prefixes.BytesOf);

    /// <summary>CLIENT CACHING was called and holds for the next command; the client's own thread only.</summary>
    internal bool Caching { get; set; }

    /// <summary>The client to redirect to has gone.</summary>
    internal bool Broken { get; set; }

    /// <summary>True if what is read now must be remembered.</summary>
    internal bool Remembers => (modes & (TrackingModes.Broadcast | TrackingModes.OptIn | TrackingModes.OptOut)) switch
    {
        TrackingModes.Broadcast => false,
        TrackingModes.OptIn => Caching,
        TrackingModes.OptOut => !Caching,
        _ => true,
    };
}
