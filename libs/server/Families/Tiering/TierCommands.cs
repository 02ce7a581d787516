using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Telemetry;
using Tsavorite;

namespace Garnet.Server.Families.Tiering;

/// <summary>Looking at the tier, and moving keys between it and memory by hand.</summary>
internal static class TierCommands
{
    private const CommandFlags Alone = CommandFlags.NoScript | CommandFlags.NoMulti; // they take locks and wait for the tier

    internal static void Register(CommandTable table)
    {
        table.AddContainer(new CommandSpec("TIER", -2, CommandFlags.None)
        {
            Group = "server", Summary = "Looks at the tier, and moves keys between it and memory.", Since = "0.1.0",
        });
        table.Add<TierWhere>();
        table.Add<TierPromote>();
        table.Add<TierDemote>();
        table.Add<TierStats>();
        table.Add<TierReset>();
    }

    /// <summary>A command over a key. It changes nothing that a client could read, so that replicas, whose tiers are their own, run it too.</summary>
    internal static CommandSpec OfKey(string name, CommandFlags flags, string summary) =>
        new(name, 2, flags | Alone, KeySpec.One with { Usage = "RO" })
        {
            Group = "server", Syntax = "key", Summary = summary, Since = "0.1.0", Complexity = "O(N)",
        };

    internal static CommandSpec OfTier(string name, string summary) =>
        new(name, 1, CommandFlags.Admin | CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "server", Summary = summary, Since = "0.1.0",
        };

    /// <summary>The session's way to the tier; false if there is none, with what was answered.</summary>
    internal static bool TryTier(ref Call call, out SessionTier tier, out Reply failed)
    {
        failed = Reply.Sent;
        tier = call.Session.Tier!;
        if (tier is not null)
            return true;
        failed = call.FailBytes("ERR this server has no tier: start it with --tier-path or --tier-pm-path"u8);
        return false;
    }
}

/// <summary>TIER.WHERE: where a key's records lie. Looking does not count as a use of it.</summary>
internal readonly struct TierWhere : ICommand
{
    public static CommandSpec Spec => TierCommands.OfKey("TIER.WHERE", CommandFlags.ReadOnly,
        "Returns where a key lies, and how many pieces of a large collection lie where.");

    public static Reply Run(ref Call call)
    {
        if (!TierCommands.TryTier(ref call, out SessionTier tier, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        TierPlaces places = tier.Where(in key, call.NowMs);
        if (!places.Exists)
            return call.Null();
        call.Out.Map(3);
        call.Out.Bulk("where"u8);
        call.Out.Bulk(places.IsInPersistentMemory ? "pm"u8 : places.IsCold ? "tier"u8 : "memory"u8);
        call.Out.Bulk("chunks_memory"u8);
        call.Out.Int(places.ChunksInMemory);
        call.Out.Bulk("chunks_tier"u8);
        call.Out.Int(places.ChunksOnTier);
        return Reply.Sent;
    }
}

/// <summary>TIER.PROMOTE: all of a key comes to memory, if there is room.</summary>
internal readonly struct TierPromote : ICommand
{
    public static CommandSpec Spec => TierCommands.OfKey("TIER.PROMOTE", CommandFlags.Admin,
        "Takes a key from the tier to memory.");

    public static Reply Run(ref Call call)
    {
        if (!TierCommands.TryTier(ref call, out SessionTier tier, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        try
        {
            Outcome outcome = tier.Promote(in key, call.NowMs);
            return outcome == Outcome.Done ? call.Ok() : call.From(outcome);
        }
        catch (ColdMissException) when (tier.HasTakenBack)
        {
            FetchedKeys.HasGotOn(call.Client);
            throw;
        }
    }
}

/// <summary>TIER.DEMOTE: all of a key goes to the tier, and answers how many records have moved.</summary>
internal readonly struct TierDemote : ICommand
{
    public static CommandSpec Spec => TierCommands.OfKey("TIER.DEMOTE", CommandFlags.Admin,
        "Moves a key to the tier; returns how many of its pieces have moved.");

    public static Reply Run(ref Call call)
    {
        if (!TierCommands.TryTier(ref call, out SessionTier tier, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        Worker worker = call.Worker;
        Connection client = call.Client;
        if (tier.Demote(in key, call.NowMs, Tell) is not { } request)
            return call.Null();
        worker.Park(client, new DemoteWait(request));
        return Reply.Parked;

        void Tell() => worker.Post(static (owner, waiting, _) => owner.TryResume(waiting!), client);
    }
}

/// <summary>TIER.STATS: the numbers of INFO tiering.</summary>
internal readonly struct TierStats : ICommand
{
    public static CommandSpec Spec => TierCommands.OfTier("TIER.STATS", "Returns figures of the tier.");

    public static Reply Run(ref Call call)
    {
        if (!TierCommands.TryTier(ref call, out _, out Reply failed))
            return failed;
        var moment = new Moment(call.Server);
        call.Out.Map(TieringFigures.All.Count);
        foreach (Figure figure in TieringFigures.All)
        {
            call.Out.Bulk(figure.Field[TieringFigures.Prefix.Length..]);
            call.Out.Int(figure.Read(moment));
        }

        return Reply.Sent;
    }
}

/// <summary>TIER.RESET: the tier's counters begin at zero.</summary>
internal readonly struct TierReset : ICommand
{
    public static CommandSpec Spec => TierCommands.OfTier("TIER.RESET", "Makes the counters of the tier begin at zero.");

    public static Reply Run(ref Call call)
    {
        if (!TierCommands.TryTier(ref call, out _, out Reply failed))
            return failed;
        call.Server.Store.ResetTierCounts();
        return call.Ok();
    }
}
