using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>What client-side caching does around a command of a client that tracks.</summary>
internal static class TrackedReads
{
    /// <summary>Before it runs: what it will read is remembered (tracking.T1). Of a script that is what its commands read.</summary>
    internal static void BeforeRun(ref Call call, CommandFlags flags)
    {
        if ((flags & (CommandFlags.ReadOnly | CommandFlags.RunsScript)) != CommandFlags.ReadOnly || call.Client.Tracking?.Remembers != true)
            return;
        KeySpec keys = call.Server.Commands.Specs[call.Client.LastCommand].Keys;
        if (!keys.Any || !KeyPositions.TryOf(ref call, keys, out KeyPositions positions))
            return;
        for (int i = 0; i < positions.Count; i++)
            call.Server.Observers.Tracker.Remember(call.Client, call[positions[i]]);
        for (int i = 0; i < positions.Count; i++)
            call.Server.Observers.Tracker.Trim(call.Worker, call[positions[i]]);
    }

    /// <summary>After it: CLIENT CACHING holds for one command that is no CLIENT itself.</summary>
    internal static void AfterRun(ref Call call)
    {
        Connection client = call.Client;
        if (client.Tracking is { Caching: true } state
            && !call.Server.Commands.Specs[client.LastCommand].Name.StartsWith("CLIENT|", StringComparison.Ordinal))
            state.Caching = false;
    }
}
