using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Admission;

/// <summary>
/// May somebody with these rights run the command? One of his selectors must allow the command, the databases, all keys and all channels. If none does, the refusal is that of
/// the selector that came furthest. Allocates nothing.
/// </summary>
internal static unsafe class RightsCheck
{
    /// <summary>Why not, or nothing.</summary>
    /// <param name="call">The command with its arguments.</param>
    /// <param name="entry">What it is.</param>
    /// <param name="rights">The rights.</param>
    /// <param name="database">The database that it would run in.</param>
    /// <param name="at">The argument that is refused; 0 for the command itself.</param>
    internal static DenialReason Of(ref Call call, CommandEntry* entry, UserRights rights, int database, out int at)
    {
        at = 0;
        if (rights.AllowsEverything)
            return DenialReason.None;
        ref readonly RightsNeed need = ref call.Server.Rights.Needs[entry->Id];
        bool hasKeys = KeyPositions.TryOf(ref call, need.Keys, out KeyPositions keys);
        DenialReason furthest = DenialReason.Command;
        foreach (Selector selector in rights.Selectors)
        {
            DenialReason reason = Of(ref call, entry, selector, out int argument);
            if (reason == DenialReason.None)
                reason = OfDatabases(ref call, in need, selector, hasKeys ? database : NotReached(in need, database), out argument);
            if (reason == DenialReason.None && hasKeys)
                reason = OfKeys(ref call, in need, in keys, selector, out argument);
            if (reason == DenialReason.None)
                reason = OfChannels(ref call, need.Channels, selector, out argument);
            if (reason == DenialReason.None)
                return reason;
            if (reason.Outranks(furthest) || (reason == furthest && argument > at))
                (furthest, at) = (reason, argument);
        }

        return furthest;
    }

    /// <summary>True if one selector allows the command, and to read every key there is.</summary>
    internal static bool ReadsAnyKey(ref Call call, CommandEntry* entry, UserRights rights)
    {
        if (rights.AllowsEverything)
            return true;
        ref readonly RightsNeed need = ref call.Server.Rights.Needs[entry->Id];
        bool hasKeys = KeyPositions.TryOf(ref call, need.Keys, out KeyPositions keys);
        foreach (Selector selector in rights.Selectors)
        {
            bool allows = selector.ReadsAllKeys && Of(ref call, entry, selector, out _) == DenialReason.None
                && (!hasKeys || OfKeys(ref call, in need, in keys, selector, out _) == DenialReason.None);
            if (allows)
                return true;
        }

        return false;
    }

    private static DenialReason Of(ref Call call, CommandEntry* entry, Selector selector, out int at)
    {
        at = 0;
        bool isFree = (entry->Flags & Clients.CommandFlags.NoAuth) != 0;
        if (isFree || selector.AllowsCommand(entry->Id, call.Count > 1 ? call[1] : default))
            return DenialReason.None;
        return DenialReason.Command;
    }

    // -1 for a command that looks into no database of its own accord.
    private static int NotReached(in RightsNeed need, int database) => need.ReachesOwn ? database : -1;

    private static DenialReason OfDatabases(ref Call call, in RightsNeed need, Selector selector, int database, out int at)
    {
        at = 0;
        if (selector.AllowsAllDatabases)
            return DenialReason.None;
        if (need.Databases == DatabaseReach.All)
            return DenialReason.Database;
        if (need.Databases == DatabaseReach.Named)
            return OfNamed(ref call, selector, out at);
        if (database >= 0 && !selector.AllowsDatabase(database))
            return DenialReason.Database;
        if (need.Keys.Elsewhere is not { } elsewhere || !elsewhere(ref call, out int key, out int other) || selector.AllowsDatabase(other))
            return DenialReason.None;
        at = key;
        return DenialReason.Database;
    }

    private static DenialReason OfNamed(ref Call call, Selector selector, out int at)
    {
        for (at = 1; at < call.Count; at++)
        {
            // What is no database the command will say.
            bool isNumber = call.TryInt64(at, out long database) && database is >= 0 and <= int.MaxValue;
            if (isNumber && !selector.AllowsDatabase((int)database))
                return DenialReason.Database;
        }

        at = 0;
        return DenialReason.None;
    }

    private static DenialReason OfKeys(ref Call call, in RightsNeed need, in KeyPositions keys, Selector selector, out int at)
    {
        at = 0;
        if (selector.AllowsAllKeys)
            return DenialReason.None;
        for (int i = 0; i < keys.Count; i++)
        {
            at = keys[i];
            if (!selector.AllowsKey(call[at], need.AccessOf(ref call, in keys, i)))
                return DenialReason.Key;
        }

        return DenialReason.None;
    }

    private static DenialReason OfChannels(ref Call call, ChannelSpec channels, Selector selector, out int at)
    {
        at = 0;
        if (channels.First == 0 || selector.AllowsAllChannels)
            return DenialReason.None;
        for (at = channels.First; at < call.Count; at++)
        {
            if (!selector.AllowsChannel(call[at], channels.ArePatterns))
                return DenialReason.Channel;
            if (!channels.ToEnd)
                break;
        }

        return DenialReason.None;
    }
}
