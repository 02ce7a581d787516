using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>What rights a command needs beside the one to run it.</summary>
internal readonly struct RightsNeed
{
    internal KeySpec Keys { get; init; }

    /// <summary>How its first key is used.</summary>
    internal KeyAccess First { get; init; }

    /// <summary>How those behind it are.</summary>
    internal KeyAccess Rest { get; init; }

    internal ChannelSpec Channels { get; init; }

    internal DatabaseReach Databases { get; init; }

    /// <summary>True if it looks into the connection's database even without a key.</summary>
    internal bool ReachesOwn { get; init; }

    /// <summary>How a call uses the key of an index.</summary>
    internal KeyAccess AccessOf(ref Call call, in KeyPositions keys, int index) => keys.PlaceOf(index) switch
    {
        KeyPlace.Target => KeyAccess.Write,
        KeyPlace.Rest => Rest,
        _ => Keys.UsageOf is { } usageOf ? RightsNeeds.AccessOf(usageOf(ref call, 0)) : First,
    };
}
