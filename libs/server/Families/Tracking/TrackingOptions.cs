using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Tracking;
using Tsavorite;

namespace Garnet.Server.Families.Tracking;

/// <summary>The options of CLIENT TRACKING: reads them, and refuses what does not go together, in Redis's order and words.</summary>
internal sealed class TrackingOptions
{
    private readonly List<byte[]> _prefixes = [];
    private long _prefixBytes;
    private TrackingModes _modes;
    private Connection? _redirect;

    /// <summary>Reads the arguments from <paramref name="first"/> to the end; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, int first, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = first; i < call.Count && failed == Reply.Sent; i++)
        {
            bool more = i + 1 < call.Count;
            if (more && call.Is(i, "REDIRECT"u8))
                failed = ParseRedirect(ref call, ++i);
            else if (more && call.Is(i, "PREFIX"u8))
                failed = TakePrefix(ref call, ++i);
            else if (ModeOf(ref call, i) is var mode && mode != TrackingModes.None)
                _modes |= mode;
            else
                failed = call.Fail(Fault.Syntax);
        }

        return failed == Reply.Sent;
    }

    /// <summary>True if the options go together and with what is on already; on false the error has been written.</summary>
    internal bool Fits(ref Call call, TrackingState? now, out Reply failed)
    {
        const TrackingModes Either = TrackingModes.OptIn | TrackingModes.OptOut;
        bool broadcast = (_modes & TrackingModes.Broadcast) != 0;
        string? refusal = null;
        if (!broadcast && _prefixes.Count > 0)
            refusal = "PREFIX option requires BCAST mode to be enabled";
        else if (now is not null && ((now.Modes ^ _modes) & TrackingModes.Broadcast) != 0)
            refusal = "You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a " +
                "different mode.";
        else if (broadcast && (_modes & Either) != 0)
            refusal = "OPTIN and OPTOUT are not compatible with BCAST";
        else if ((_modes & Either) == Either)
            refusal = "You can't specify both OPTIN mode and OPTOUT mode";
        else if (now is not null && ((now.Modes | _modes) & Either) == Either)
            refusal = "You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a " +
                "different mode.";
        if (refusal is not null)
            failed = call.FailText("ERR " + refusal);
        else
            failed = CheckPrefixes(ref call, now);
        return failed == Reply.Sent;
    }

    /// <summary>The prefixes that are added to those there are.</summary>
    internal IReadOnlyList<byte[]> Added => _prefixes;

    /// <summary>What the client's state becomes.</summary>
    internal TrackingState State(TrackingState? now)
    {
        byte[][] held = now?.Prefixes ?? [];
        bool broadcast = (_modes & TrackingModes.Broadcast) != 0;
        if (broadcast && _prefixes.Count == 0 && held is not [{ Length: 0 }, ..])
            _prefixes.Add([]);
        return new TrackingState(_modes, _redirect?.Id ?? 0, _redirect, Prefixes.Merge(held, _prefixes));
    }

    private static TrackingModes ModeOf(ref Call call, int index) => call.Is(index, "BCAST"u8) ? TrackingModes.Broadcast
        : call.Is(index, "OPTIN"u8) ? TrackingModes.OptIn
        : call.Is(index, "OPTOUT"u8) ? TrackingModes.OptOut
        : call.Is(index, "NOLOOP"u8) ? TrackingModes.NoLoop
        : TrackingModes.None;

    // One that no key begins with would only cost.
    private Reply TakePrefix(ref Call call, int index)
    {
        if (call[index].Length > Store.KeyBytesMax)
            return call.FailText($"ERR a prefix is longer than {Store.KeyBytesMax} bytes, the most that a key has");
        byte[] prefix = call[index].ToArray();
        _prefixes.Add(prefix);
        _prefixBytes += TrackingState.BytesOf(prefix);
        return _prefixBytes > TrackingState.MemoryBytesMax ? call.Fail(Fault.ResourceLimit) : Reply.Sent;
    }

    private Reply ParseRedirect(ref Call call, int index)
    {
        if (_redirect is not null)
            return call.FailBytes("ERR A client can only redirect to a single other client"u8);
        if (!call.TryInt64(index, out long id))
            return call.Fail(Fault.NotAnInteger);
        _redirect = call.Server.Clients().Find(client => client.Id == id && !client.Closed);
        return _redirect is null ? call.FailBytes("ERR The client ID you want redirect to does not exist"u8) : Reply.Sent;
    }

    private Reply CheckPrefixes(ref Call call, TrackingState? now)
    {
        if ((now?.MemoryBytes ?? 0) + _prefixBytes > TrackingState.MemoryBytesMax)
            return call.Fail(Fault.ResourceLimit);
        byte[][] held = now?.Prefixes ?? [];
        int first = Prefixes.FirstOverlap(_prefixes, held);
        if (first < 0)
            return Reply.Sent;
        byte[] prefix = _prefixes[first];
        return Array.Find(held, other => Prefixes.Overlap(prefix, other)) is { } existing
            ? Overlaps(ref call, prefix, "an existing"u8, existing)
            : Overlaps(ref call, prefix, "another provided"u8, _prefixes.Skip(first + 1).First(other => Prefixes.Overlap(prefix, other)));
    }

    private static Reply Overlaps(ref Call call, byte[] prefix, ReadOnlySpan<byte> which, byte[] other) =>
        call.FailBytes([.. "ERR Prefix '"u8, .. prefix, .. "' overlaps with "u8, .. which, .. " prefix '"u8, .. other,
            .. "'. Prefixes for a single client must not overlap."u8]);
}
