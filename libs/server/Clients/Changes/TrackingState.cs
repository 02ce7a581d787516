namespace Garnet.Server.Clients;

/// <summary>What one client asked CLIENT TRACKING for. Other reactors read it, so all but the two marks is fixed at birth.</summary>
internal sealed class TrackingState(TrackingModes modes, long redirectId, Connection? redirect, byte[][] prefixes)
{
    /// <summary>
    /// Memory that one client's prefixes may take: 32 MiB, some 120,000 short ones. It bounds their number and their length, and so what is hashed of a
    /// long key that changes: its beginnings of all the lengths there are.
    /// </summary>
    internal const long MemoryBytesMax = 32L << 20;

    private const int EntryBytes = 256; // of tables and sets, about

    internal TrackingModes Modes => modes;

    /// <summary>Who receives the messages instead; 0 for nobody.</summary>
    internal long RedirectId => redirectId;

    internal Connection? Redirect => redirect;

    /// <summary>Prefixes of broadcast mode, in byte order.</summary>
    internal byte[][] Prefixes => prefixes;

    /// <summary>Bytes that the prefixes take, estimated by entry.</summary>
    internal long MemoryBytes { get; } = prefixes.Sum(BytesOf);

    /// <summary>Bytes a client's prefix takes, an estimate.</summary>
    internal static long BytesOf(byte[] prefix) => EntryBytes + prefix.Length;

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
