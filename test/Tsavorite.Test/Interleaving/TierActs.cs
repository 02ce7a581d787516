using Tsavorite.Test.Tiers;

namespace Tsavorite.Test.Interleaving;

/// <summary>What the movers of a tier do, as acts: each has what it works with for itself, as the one thread that does all of it has. A client sees nothing of them.</summary>
internal static unsafe class TierActs
{
    public static readonly IReadOnlyDictionary<string, Act> All = new Dictionary<string, Act>
    {
        ["Demote"] = Demote,
        ["Compact"] = Compact,
        ["Promote"] = Promote,
    };

    /// <summary>One of them, or of those that need a stage of their own: one with both parts, a record whose time comes, or snapshots that name.</summary>
    public static Act Of(string name) => name switch { "Sink" => Sink, "Evict" => Evict, "EvictUnlooked" => EvictUnlooked, "Sweep" => Sweep, "Name" => Name, "Reuse" => Reuse, _ => All[name] };

    private static string Sink(Stage stage, int thread)
    {
        StoreCore core = stage.Store.Core;
        using ColdWriter upper = new(core, core.Tier!), lower = new(core, core.Tier!, goesDown: true);
        using ColdCleaner cleaner = new(core, core.Tier!, upper, lower);
        bool worked = true;
        for (int i = 0; worked && i < 3; i++) worked = cleaner.Sink(Stage.NowMs);
        lower.Flush(seal: true);
        return "";
    }

    // Gives up what lies in a segment.
    private static string Evict(Stage stage, int thread) => Evict(stage, EvictionPolicy.AllKeysLru);

    // By a policy that does not look at reads.
    private static string EvictUnlooked(Stage stage, int thread) => Evict(stage, EvictionPolicy.AllKeysRandom);

    private static string Evict(Stage stage, EvictionPolicy policy)
    {
        StoreCore core = stage.Store.Core;
        using ColdWriter writer = new(core, core.Tier!);
        using ColdCleaner cleaner = new(core, core.Tier!, writer, writer);
        cleaner.Evict(policy, Stage.NowMs);
        return "";
    }

    // Removes what has expired by then.
    private static string Sweep(Stage stage, int thread)
    {
        StoreCore core = stage.Store.Core;
        using ColdWriter writer = new(core, core.Tier!) { MayTakeReserve = true };
        using ColdCleaner cleaner = new(core, core.Tier!, writer, writer) { MayRemove = true };
        cleaner.Sweep(Stage.NowMs + 1000);
        writer.Flush(seal: true);
        return "";
    }

    // What was moved together has left its segment, which others are written to.
    private static string Reuse(Stage stage, int thread)
    {
        Compact(stage, thread);
        Cooperation.Quietly(() =>
        {
            for (int i = 9; i < 12; i++) stage.Put(stage.Session(thread), Stage.Near(i), thread, 'z', 464);
            stage.Store.Tiers!.DemoteAll();
            for (int i = 9; i < 12; i++) stage.Delete(stage.Session(thread), Stage.Near(i), thread);
        });
        return "";
    }

    private static string Name(Stage stage, int thread)
    {
        stage.Names = NamingList.Of(stage.Store);
        return "";
    }

    private static string Demote(Stage stage, int thread)
    {
        StoreCore core = stage.Store.Core;
        using ColdWriter writer = new(core, core.Tier!);
        if (stage.Session(thread).Tier!.Demote(stage.Key(Stage.Shared, thread), Stage.NowMs) is { } request)
            new Demoter(core, writer).Move(request);
        writer.Flush(seal: true);
        return "";
    }

    private static string Compact(Stage stage, int thread)
    {
        StoreCore core = stage.Store.Core;
        using ColdWriter writer = new(core, core.Tier!) { MayTakeReserve = true };
        using ColdCleaner cleaner = new(core, core.Tier!, writer, writer) { MayRemove = true };
        bool worked = true;
        for (int i = 0; worked && i < 3; i++) worked = cleaner.Compact(core.Tier!.Segments.Bottom, Stage.NowMs);
        writer.Flush(seal: true);
        return "";
    }

    private static string Promote(Stage stage, int thread) =>
        stage.Session(thread).Tier!.Promote(stage.Key(Stage.Shared, thread), Stage.NowMs).ToString();
}
