using System.Globalization;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Admission;

/// <summary>
/// May somebody with these rights run the command? One of his selectors must allow the command, the databases, all keys and all channels. If none does, the refusal is that of
/// the selector that came furthest. Allocates nothing.
/// </summary>
internal static unsafe class RightsCheck
{
    private const int NoDatabase = -1; // of a command that looks into none of its own accord

    /// <summary>Why not, or nothing.</summary>
    /// <param name="call">The command with its arguments.</param>
    /// <param name="entry">What it is.</param>
    /// <param name="rights">The rights.</param>
    /// <param name="database">The database that it would run in.</param>
    internal static Refusal Of(ref Call call, CommandEntry* entry, UserRights rights, int database)
    {
        if (rights.AllowsEverything)
            return default;
        KeyPositions keys = KeysOf(ref call, entry);
        var furthest = new Refusal(DenialReason.Command);
        foreach (Selector selector in rights.Selectors)
        {
            Refusal refusal = Of(ref call, entry, in keys, database, selector);
            if (refusal.IsNone)
                return default;
            if (refusal.Outranks(in furthest))
                furthest = refusal;
        }

        return furthest;
    }

    /// <summary>True if one selector allows all of the command, and to read every key there is.</summary>
    internal static bool ReadsAnyKey(ref Call call, CommandEntry* entry, UserRights rights, int database)
    {
        if (rights.AllowsEverything)
            return true;
        KeyPositions keys = KeysOf(ref call, entry);
        foreach (Selector selector in rights.Selectors)
        {
            if (selector.ReadsAllKeys && Of(ref call, entry, in keys, database, selector).IsNone)
                return true;
        }

        return false;
    }

    // None where they cannot be told: the command will answer with an error.
    private static KeyPositions KeysOf(ref Call call, CommandEntry* entry) =>
        KeyPositions.TryOf(ref call, call.Server.Rights.Needs[entry->Id].Keys, out KeyPositions keys) ? keys : default;

    // Every question that there is, of one selector.
    private static Refusal Of(ref Call call, CommandEntry* entry, in KeyPositions keys, int database, Selector selector)
    {
        ref readonly RightsNeed need = ref call.Server.Rights.Needs[entry->Id];
        Refusal refusal = OfCommand(ref call, entry, selector);
        if (refusal.IsNone)
            refusal = OfDatabases(ref call, in need, selector, keys.Count > 0 || need.ReachesOwn ? database : NoDatabase);
        if (refusal.IsNone)
            refusal = OfKeys(ref call, in need, in keys, selector);
        return refusal.IsNone ? OfChannels(ref call, need.Channels, selector) : refusal;
    }

    private static Refusal OfCommand(ref Call call, CommandEntry* entry, Selector selector)
    {
        bool isFree = (entry->Flags & Clients.CommandFlags.NoAuth) != 0;
        return isFree ? default : selector.RefusalOf(entry->Id, call.Count > 1 ? call[1] : default);
    }

    private static Refusal OfDatabases(ref Call call, in RightsNeed need, Selector selector, int database)
    {
        if (selector.AllowsAllDatabases)
            return default;
        if (need.Databases == DatabaseReach.All)
            return new Refusal(DenialReason.Database);
        if (need.Databases == DatabaseReach.Named)
            return OfNamed(ref call, selector);
        if (database != NoDatabase && !selector.AllowsDatabase(database))
            return new Refusal(DenialReason.Database, What: database.ToString(CultureInfo.InvariantCulture));
        if (need.Keys.Elsewhere is not { } elsewhere || !elsewhere(ref call, out int key, out int other) || selector.AllowsDatabase(other))
            return default;
        return new Refusal(DenialReason.Database, key);
    }

    private static Refusal OfNamed(ref Call call, Selector selector)
    {
        for (int at = 1; at < call.Count; at++)
        {
            // What is no database the command will say.
            bool isNumber = call.TryInt64(at, out long database) && database is >= 0 and <= int.MaxValue;
            if (isNumber && !selector.AllowsDatabase((int)database))
                return new Refusal(DenialReason.Database, at);
        }

        return default;
    }

    private static Refusal OfKeys(ref Call call, in RightsNeed need, in KeyPositions keys, Selector selector)
    {
        if (selector.AllowsAllKeys)
            return default;
        for (int i = 0; i < keys.Count; i++)
        {
            if (!selector.AllowsKey(call[keys[i]], need.AccessOf(ref call, in keys, i)))
                return new Refusal(DenialReason.Key, keys[i]);
        }

        return default;
    }

    private static Refusal OfChannels(ref Call call, ChannelSpec channels, Selector selector)
    {
        if (channels.First == 0 || selector.AllowsAllChannels)
            return default;
        for (int at = channels.First; at < call.Count; at++)
        {
            if (!selector.AllowsChannel(call[at], channels.ArePatterns))
                return new Refusal(DenialReason.Channel, at);
            if (!channels.ToEnd)
                break;
        }

        return default;
    }
}
