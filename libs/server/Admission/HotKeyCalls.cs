using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Admission;

/// <summary>What a command took, noted for each of its keys while a session of HOTKEYS is under way: they share it evenly, as in Redis.</summary>
internal static class HotKeyCalls
{
    /// <summary>The command has run. What a script runs is its script's.</summary>
    /// <param name="call">The command.</param>
    /// <param name="command">Its number.</param>
    /// <param name="session">Of HOTKEYS.</param>
    /// <param name="us">How many microseconds it took.</param>
    /// <param name="replyBytes">Bytes of its reply.</param>
    internal static void Ran(ref Call call, int command, HotKeySession session, long us, long replyBytes)
    {
        session.Look(call.NowMs);
        if (session.IsActive && (call.Client.Modes & ClientModes.Script) == 0)
            Note(ref call, command, session, us, call.RequestBytes() + replyBytes);
    }

    /// <summary>After it has run, a value of so many bytes was sent from where it lies.</summary>
    internal static void Sent(ref Call call, int command, long bytes)
    {
        if (call.Server.Monitoring.HotKeys.Session is { IsActive: true } session)
            Note(ref call, command, session, 0, bytes);
    }

    // All parts together are the whole.
    private static long PartOf(long whole, int index, int count, int rest) =>
        (((whole * (index + 1)) + rest) / count) - (((whole * index) + rest) / count);

    private static void Note(ref Call call, int command, HotKeySession session, long us, long bytes)
    {
        KeySpec spec = call.Server.Commands.Specs[command].Keys;
        if (!spec.Any || !KeyPositions.TryOf(ref call, spec, out KeyPositions keys) || !session.Counts(call.Worker, us, bytes))
            return;
        int count = keys.Count, rest = Random.Shared.Next(count); // what does not divide goes to any of them
        for (int i = 0; i < count; i++)
            session.Add(call.Worker, call.HashAt(keys[i]), call[keys[i]], PartOf(us, i, count, rest), PartOf(bytes, i, count, rest));
    }
}
